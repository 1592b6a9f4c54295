import SecurePropertyStorage
import Testing

// Qualifiers, doubles and groups as code of the Apple package writes them. A qualifier is a plain
// protocol: there is no @objc on Linux.

private protocol Vessel: Sendable { func hail() -> String }
private protocol Sailing {}
private protocol Rowing {}

private final class Sloop: Vessel, Sailing {
  func hail() -> String { "sail ho" }
}

private final class Dinghy: Vessel, Rowing {
  func hail() -> String { "oars" }
}

private final class PaperBoat: Vessel, Mock {
  func hail() -> String { "splash" }
}

private let yard: DependencyGroupKey = "yard"

private final class Crew {
  @UnwrappedInject(Sailing.self) var fast: Vessel
  @UnwrappedInject(Rowing.self) var slow: Vessel
  @UnwrappedInject([Rowing.self]) var listed: Vessel
  @Inject(group: yard) var inTheYard: Vessel?
  @Inject(Sailing.self, group: yard) var fastInTheYard: Vessel?
}

private final class Fleet {
  @Register var sloop: Vessel = Sloop()
  @Register var dinghy: Vessel = Dinghy()
  @Register(group: yard) var laidUp: Vessel = Sloop()
}

@Suite struct MovedInjectionChoiceTests {
  @Test func aQualifierChoosesAndAGroupIsLookedIntoFirst() {
    InjectStorage.withOverrides {
      let fleet = Fleet()
      let crew = Crew()
      #expect(crew.fast.hail() == "sail ho" && crew.slow.hail() == "oars")
      #expect(crew.listed.hail() == "oars" && crew.inTheYard?.hail() == "sail ho")
      #expect(crew.fastInTheYard as? Sloop === fleet.laidUp as? Sloop)
    }
  }

  @Test func aMockWins() {
    InjectStorage.withOverrides {
      @Register var live: Vessel = Sloop()
      @Register var double: Vessel = PaperBoat()
      @Inject var vessel: Vessel?
      #expect(vessel?.hail() == "splash")
    }
  }
}
