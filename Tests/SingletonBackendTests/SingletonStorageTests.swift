import SingletonBackend
import StorageCore
import Testing

@Suite struct SingletonStorageTests {
  @Test func twoStoragesShareNothing() throws {
    let (one, other) = (SingletonStorage(), SingletonStorage())
    try one.save(1, forKey: "k")
    #expect(try other.load(Int.self, forKey: "k") == nil)
  }
}
