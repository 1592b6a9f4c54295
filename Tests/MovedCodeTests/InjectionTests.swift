import SecurePropertyStorage
import Testing

// Injection as code of the Apple package writes it: without `any`, and with protocols that are
// Sendable, which is the one thing that Swift 6 asks for here.

private protocol Signal: Sendable { var pattern: String { get } }

private struct Weather: Sendable { var wind = 6 }

private final class Lamp: Signal {
  let pattern: String
  init() { pattern = "fixed" }
  init(_ weather: Weather) { pattern = "wind \(weather.wind)" }
  init(pattern: String) { self.pattern = pattern }
}

extension Lamp {
  fileprivate static func register(@Register signal: Signal = Lamp()) {}
}

private final class Tower {
  @Register var signal: Signal = Lamp()
  @Register var lamp = Lamp()
  @Register var byWeather = { weather in Lamp(weather) as Signal }
}

private final class Ship {
  @Inject var signal: Signal?
  @Inject var lamp: Lamp?
  @UnwrappedInject var needed: Signal
  @UnwrappedInject var neededLamp: Lamp
  @Inject(Weather()) var inWind: Signal?
  @UnwrappedInject(Weather(wind: 9)) var inStorm: Signal
  @InjectWith(Weather(wind: 1)) var inCalm: Signal?
  @UnwrappedInjectWith(Weather(wind: 2)) var inBreeze: Signal
  @InjectWith<Signal, Weather>(Weather(wind: 3)) var written: Signal?
  @UnwrappedInjectWith<Signal, Weather>(Weather(wind: 4)) var writtenToo: Signal
}

@Suite struct MovedInjectionTests {
  @Test func whatAClassRegistersIsInjected() {
    InjectStorage.withOverrides {
      let tower = Tower()
      let ship = Ship()
      #expect(ship.signal?.pattern == "fixed" && ship.needed.pattern == "fixed")
      #expect(ship.lamp === tower.lamp && ship.neededLamp === tower.lamp)
      #expect(ship.inWind?.pattern == "wind 6" && ship.inStorm.pattern == "wind 9")
      #expect(ship.inCalm?.pattern == "wind 1" && ship.inBreeze.pattern == "wind 2")
      #expect(ship.written?.pattern == "wind 3" && ship.writtenToo.pattern == "wind 4")
    }
  }

  @Test func buildersRunWhenTheyAreNeededAndInTheScopeThatIsAskedFor() {
    InjectStorage.withOverrides {
      @Register var signal = { Lamp() as Signal }
      @Register var lamp = { Lamp() }
      @Inject(.instance) var new: Signal?
      @UnwrappedInject(.instance) var another: Lamp
      @Inject(.singleton) var shared: Signal?
      #expect(new as? Lamp !== new as? Lamp && another !== another)
      #expect(shared as? Lamp === shared as? Lamp)
    }
  }

  @Test func assigningRegistersAnotherInItsPlace() {
    InjectStorage.withOverrides {
      let tower = Tower()
      let ship = Ship()
      tower.signal = Lamp(pattern: "flashing")
      // There, the second registration made the type ambiguous.
      #expect(ship.needed.pattern == "flashing" && tower.signal.pattern == "flashing")
      tower.byWeather = { weather in Lamp(pattern: "gale \(weather.wind)") as Signal }
      #expect(ship.inStorm.pattern == "gale 9")
    }
  }

  @Test func theErrorClosureRegistersWhatIsMissing() {
    InjectStorage.withOverrides {
      // Where `register()` is annotated with @StorageActor, take the annotation away.
      InjectStorage.standard.errorClosure = { error in
        if case InjectError.notFound = error { Lamp.register() }
      }
      #expect(Ship().signal?.pattern == "fixed")
    }
  }

  @Test func aSecondRegistrationIsAnErrorThatNamesItself() throws {
    try InjectStorage.withOverrides {
      @Register var one: Signal = Lamp()
      @Register var two: Signal = Lamp()
      @Inject var signal: Signal?
      do {
        _ = try $signal.resolve()
        Issue.record("one of two was chosen")
      } catch InjectError.moreThanOne {}
    }
  }
}
