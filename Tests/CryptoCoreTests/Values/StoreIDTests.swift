import CryptoCore
import Testing

struct StoreIDTests {
  @Test func sixteenBytesAreAnIdentifier() throws {
    let bytes = try randomBytes(16)
    #expect(StoreID(bytes)?.bytes == bytes)
    #expect(StoreID(bytes) == StoreID(bytes[...]))
  }

  @Test(arguments: [0, 1, 15, 17, 32])
  func anotherNumberIsNone(count: Int) throws {
    #expect(try StoreID(randomBytes(count)) == nil)
  }

  @Test func noTwoRandomIdentifiersAreEqual() throws {
    #expect(try Set((0..<200).map { _ in try StoreID.random() }).count == 200)
  }
}
