import DefaultsBackend
import StorageTesting
import Testing

struct StorePromiseTests {
  @Test(
    arguments: [DefaultsDurability.immediate, .coalesced(within: .milliseconds(10))],
    StorePromise.all)
  func aSuiteKeepsIts(_ durability: DefaultsDurability, _ promise: StorePromise) async throws {
    try await promise.check { SuitePlace(durability: durability) }
  }
}
