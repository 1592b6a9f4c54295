import SecurePropertyStorage
import Testing

// Code as it is written for the Apple package of the same name, without `any`: this target is built
// without the ExistentialAny setting. That it compiles is half of the test.

protocol YourProtocol: Sendable { var text: String { get } }

struct YourParameters: Sendable { var text = "parameters" }

final class YourImplementation: YourProtocol {
  let text: String
  init() { text = "live" }
  init(_ parameters: YourParameters) { text = parameters.text }
}

final class YourMock: YourProtocol, Mock { let text = "mock" }

extension YourImplementation {
  static func register(@Register yourDependency: YourProtocol = YourImplementation()) {}
}

protocol Animal: Sendable { func sound() -> String }
protocol Dog {}
protocol Cat {}

final class DogImplementation: Animal, Dog {
  func sound() -> String { "Woof!" }
}

final class CatImplementation: Animal, Cat {
  func sound() -> String { "Meow!" }
}

let group: DependencyGroupKey = "group"

/// Registers when it is made, as programs do at their start.
final class Injector {
  @Register var yourDependency: YourProtocol = YourImplementation()
  @Register var implementation = YourImplementation()
  @Register var registerDog: Animal = DogImplementation()
  @Register var registerCat: Animal = CatImplementation()
  @Register var builder = { parameters in YourImplementation(parameters) as YourProtocol }
  @Register(group: group) var grouped: YourProtocol = YourMock()
}

final class User {
  @Inject var optional: YourProtocol?
  @Inject var implementation: YourImplementation?
  @UnwrappedInject var unwrapped: YourProtocol
  @UnwrappedInject var unwrappedImplementation: YourImplementation
  @Inject(YourParameters()) var parametrised: YourProtocol?
  @UnwrappedInject(YourParameters()) var unwrappedParametrised: YourProtocol
  @InjectWith(YourParameters()) var with: YourProtocol?
  @UnwrappedInjectWith(YourParameters()) var unwrappedWith: YourProtocol
  @UnwrappedInject(Dog.self) var dog: Animal
  @UnwrappedInject([Cat.self]) var cat: Animal
  @Inject(group: group) var grouped: YourProtocol?
}

@Suite struct AppleStyleTests {
  @Test func whatIsRegisteredAsThereIsInjectedAsThere() {
    InjectStorage.withOverrides {
      let injector = Injector()
      let user = User()
      #expect(user.optional?.text == "live" && user.unwrapped.text == "live")
      #expect(user.implementation === injector.implementation)
      #expect(user.unwrappedImplementation === injector.implementation)
      #expect(user.parametrised?.text == "parameters" && user.with?.text == "parameters")
      #expect(user.unwrappedParametrised.text == "parameters")
      #expect(user.unwrappedWith.text == "parameters")
      #expect(user.dog.sound() == "Woof!" && user.cat.sound() == "Meow!")
      #expect(user.grouped?.text == "mock")
      // Made again, it replaces and is not ambiguous.
      let again = Injector()
      #expect(user.implementation === again.implementation)
    }
  }

  @Test func aMockWins() {
    InjectStorage.withOverrides {
      @Register var live: YourProtocol = YourImplementation()
      @Register var mock: YourProtocol = YourMock()
      #expect(User().unwrapped.text == "mock")
    }
  }

  @Test func builderClosuresAndTheInstanceScopeWorkAsThere() {
    InjectStorage.withOverrides {
      @Register var yourDependency = { YourImplementation() as YourProtocol }
      @Inject(.instance) var instance: YourProtocol?
      @UnwrappedInject(.instance) var unwrapped: YourProtocol
      @Inject(.singleton) var singleton: YourProtocol?
      #expect(instance as? YourImplementation !== unwrapped as? YourImplementation)
      #expect(singleton as? YourImplementation === singleton as? YourImplementation)
    }
  }

  @Test func theErrorClosureRegistersWhatWasNotFound() {
    InjectStorage.withOverrides {
      InjectStorage.standard.errorClosure = { error in
        if case InjectError.notFound = error {
          YourImplementation.register()
        }
      }
      #expect(User().optional?.text == "live")
    }
  }
}
