import StorageTesting
import Testing

@Suite(.timeLimit(.minutes(30))) struct StorePromiseTests {
  @Test(arguments: StorePromise.all)
  func aVaultKeepsIts(_ promise: StorePromise) async throws {
    try await promise.check { VaultPlace() }
  }
}
