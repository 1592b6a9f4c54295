import StorageTesting
import TestSupport
import Testing

struct StorePromiseTests {
  @Test(arguments: StorePromise.all)
  func aKeyringKeepsIts(_ promise: StorePromise) async throws {
    try await promise.check { try KeyringPlace(isReal: false) }
  }

  @Test(arguments: Depth.cases(StorePromise.all, day: 10))
  func aRealKeyringKeepsIts(_ promise: StorePromise) async throws {
    try await promise.check { try KeyringPlace(isReal: true) }
  }
}
