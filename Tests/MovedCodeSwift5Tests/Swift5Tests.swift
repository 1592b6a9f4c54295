import SecurePropertyStorage
import Testing

#if swift(>=6)
  #error("this target is built in Swift 5 mode")
#endif

// What Swift 5 takes and Swift 6 does not: dependencies that are not Sendable.

private protocol Crane { var load: Int { get } }

private class Derrick: Crane {
  var load = 5
}

private class Quay {
  @Register var crane: Crane = Derrick()
  @Register var derrick = { Derrick() }
  @Inject var injected: Crane?
  @UnwrappedInject var built: Derrick
}

@Suite struct MovedSwift5Tests {
  @Test func dependenciesNeedNotBeSendable() {
    InjectStorage.withOverrides {
      let quay = Quay()
      #expect(quay.injected?.load == 5 && quay.built === quay.built)
    }
  }
}
