import DefaultsBackend
import StorageTesting
import Testing

struct StorePromiseTests {
  @Test(
    arguments: [DefaultsDurability.immediate, .unsynchronized],
    StorePromise.all)
  func aSuiteKeepsIts(_ durability: DefaultsDurability, _ promise: StorePromise) async throws {
    try await promise.check { SuitePlace(durability: durability) }
  }
}
