import Foundation
import StorageCore
import StorageTesting
import Testing

/// What can be said of a value whose type the program doesn't know.
struct ValueSummaryTests {
  private struct User: Codable {
    var name = "Ada"
  }

  @Test func itGivesTheTypeAndTheSizeOfWhateverIsStored() throws {
    let storage = InMemoryStorage()
    try storage.save("héllo", forKey: "text")
    try storage.save(Data([1, 2, 3]), forKey: "data")
    try storage.save(7, forKey: "number")
    try storage.save(["a": [1]], forKey: "nested")
    try storage.save(User(), forKey: "user")
    try storage.save(URL(string: "https://example.com"), forKey: "url")

    let text = try #require(try storage.summary(forKey: "text"))
    #expect(text.type == String.valueType)
    #expect(text.byteCount == 6)
    #expect(try storage.summary(forKey: "data")?.byteCount == 3)
    #expect(try storage.summary(forKey: "number")?.byteCount == 8)
    #expect(try storage.summary(forKey: "nested")?.type.description == "[String: [Int]]")
    #expect(try storage.summary(forKey: "user")?.type.description == "Codable as JSON")
    #expect(try storage.summary(forKey: "user")?.byteCount == #"{"name":"Ada"}"#.utf8.count)
    #expect(try storage.summary(forKey: "url")?.byteCount == 19)
  }

  @Test func aTransactionSaysItOfWhatItReadsAndOfWhatItWrote() throws {
    let storage = InMemoryStorage()
    try storage.save(7, forKey: "stored")
    try storage.save(8, forKey: "removed")
    try storage.transaction { transaction in
      #expect(try transaction.summary(forKey: "stored")?.type == Int.valueType)
      try transaction.save("text", forKey: "stored")
      try transaction.delete(forKey: "removed")
      #expect(try transaction.summary(forKey: "stored")?.type == String.valueType)
      #expect(try transaction.summary(forKey: "removed") == nil)
      #expect(try transaction.summary(forKey: "absent") == nil)
    }
    #expect(try storage.summary(forKey: "stored")?.byteCount == 4)
  }
}
