import StorageTesting
import Testing

struct StorePromiseTests {
  @Test(arguments: StorePromise.all)
  func aVaultKeepsIts(_ promise: StorePromise) async throws {
    try await promise.check { VaultPlace() }
  }
}
