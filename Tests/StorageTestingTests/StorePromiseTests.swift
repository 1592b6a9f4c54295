import CryptoCore
import SingletonBackend
import StorageCore
import StorageTesting
import Testing

struct StorePromiseTests {
  @Test(arguments: StorePromise.all)
  func aStoreInMemoryKeepsIts(_ promise: StorePromise) async throws {
    try await promise.check { DelegatePlace(SingletonStorageDelegate()) }
  }
}
