import KeyringBackend
import StorageTesting
import TestSupport
import Testing

@Suite struct KeyringDelegateTests {
  // By day what its storage does with it is tried whole, below StorePromise.
  @Test(arguments: Depth.cases(DelegatePromise.all(of: KeyringDelegate.self), day: 8))
  func aKeyringKeepsIts(_ promise: DelegatePromise) throws {
    let desktop = try Desktop()
    try promise.check { desktop.delegate() }
  }
}
