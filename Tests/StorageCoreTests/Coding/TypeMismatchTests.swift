import Foundation
import StorageCore
import StorageFoundation
import Testing

@Suite struct TypeMismatchTests {
  private let storage = DelegatedStorage.fresh()

  private struct User: Codable { var name = "Ada" }

  @Test func theErrorNamesBothTypesAndNoValue() throws {
    try storage.save("marker value", forKey: "k")
    let failure = try #require(error { _ = try storage.load([Int].self, forKey: "k") })
    #expect(failure.code == .typeMismatch)
    #expect(failure.message.contains("String"))
    #expect(failure.message.contains("Array<Int>"))
    #expect(!failure.description.contains("marker"))
  }

  @Test func noTypeIsReadAsAnother() throws {
    let readers: [(String, () -> StorageError.Code?)] = [
      ("Bool", { code { _ = try storage.load(Bool.self, forKey: "k") } }),
      ("Int", { code { _ = try storage.load(Int.self, forKey: "k") } }),
      ("Int64", { code { _ = try storage.load(Int64.self, forKey: "k") } }),
      ("UInt", { code { _ = try storage.load(UInt.self, forKey: "k") } }),
      ("Float", { code { _ = try storage.load(Float.self, forKey: "k") } }),
      ("Double", { code { _ = try storage.load(Double.self, forKey: "k") } }),
      ("String", { code { _ = try storage.load(String.self, forKey: "k") } }),
      ("Data", { code { _ = try storage.load(Data.self, forKey: "k") } }),
      ("Date", { code { _ = try storage.load(Date.self, forKey: "k") } }),
      ("URL", { code { _ = try storage.load(URL.self, forKey: "k") } }),
      ("UUID", { code { _ = try storage.load(UUID.self, forKey: "k") } }),
      ("Decimal", { code { _ = try storage.load(Decimal.self, forKey: "k") } }),
      ("Int?", { code { _ = try storage.load(Int?.self, forKey: "k") } }),
      ("[Int]", { code { _ = try storage.load([Int].self, forKey: "k") } }),
      ("[String]", { code { _ = try storage.load([String].self, forKey: "k") } }),
      ("Set<Int>", { code { _ = try storage.load(Set<Int>.self, forKey: "k") } }),
      ("[String: Int]", { code { _ = try storage.load([String: Int].self, forKey: "k") } }),
      ("User", { code { _ = try storage.load(User.self, forKey: "k") } }),
      ("NSString", { code { _ = try storage.load(NSString.self, forKey: "k") } }),
    ]
    let writers: [(String, () throws -> Void)] = [
      ("Bool", { try storage.save(true, forKey: "k") }),
      ("Int", { try storage.save(1, forKey: "k") }),
      ("Int64", { try storage.save(1 as Int64, forKey: "k") }),
      ("UInt", { try storage.save(1 as UInt, forKey: "k") }),
      ("Float", { try storage.save(1 as Float, forKey: "k") }),
      ("Double", { try storage.save(1.0, forKey: "k") }),
      ("String", { try storage.save("text", forKey: "k") }),
      ("Data", { try storage.save(Data([1]), forKey: "k") }),
      ("Date", { try storage.save(Date(), forKey: "k") }),
      ("Decimal", { try storage.save(Decimal(1), forKey: "k") }),
      ("Int?", { try storage.save(Int??.some(1), forKey: "k") }),
      ("[Int]", { try storage.save([1], forKey: "k") }),
      ("Set<Int>", { try storage.save(Set([1]), forKey: "k") }),
      ("User", { try storage.save(User(), forKey: "k") }),
      ("NSString", { try storage.save(NSString("x"), forKey: "k") }),
    ]
    for (stored, write) in writers {
      try write()
      for (asked, read) in readers {
        #expect(read() == (asked == stored ? nil : .typeMismatch), "\(stored) as \(asked)")
      }
    }
  }
}
