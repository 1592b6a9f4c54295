import StorageTesting
import Testing

struct StorePromiseTests {
  @Test(arguments: [true, false], StorePromise.all)
  func aKeyringKeepsIts(_ isReal: Bool, _ promise: StorePromise) async throws {
    try await promise.check { try KeyringPlace(isReal: isReal) }
  }
}
