import CryptoCore
import Foundation
import StorageCore
import StorageFoundation
import Testing

/// Counts how often it is made from an archive.
final class Named: NSObject, NSSecureCoding {
  private static let count = Lock(0)
  static var made: Int { count.withLock { $0 } }
  static var supportsSecureCoding: Bool { true }
  override init() {}
  init?(coder: NSCoder) { Self.count.withLock { $0 += 1 } }
  func encode(with coder: NSCoder) {}
}

@Suite struct ObjectArchiveTests {
  private final class Nested: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    override init() {}
    init?(coder: NSCoder) {}
    func encode(with coder: NSCoder) {}
  }
  private enum Theme: String, Codable { case dark }

  private let storage = DelegatedStorage.fresh()

  @Test func objectsComeBackAsTheyWere() throws {
    try storage.save(NSString("text"), forKey: "string")
    try storage.save(NSURL(string: "https://example.com")!, forKey: "url")
    try storage.save(NSNumber(value: 7), forKey: "number")
    try storage.save(NSUUID(), forKey: "uuid")
    #expect(try storage.load(NSString.self, forKey: "string") == "text")
    #expect(
      try storage.load(NSURL.self, forKey: "url")?.absoluteString == "https://example.com")
    #expect(try storage.load(NSNumber.self, forKey: "number")?.intValue == 7)
    #expect(try storage.load(NSUUID.self, forKey: "uuid") != nil)
  }

  @Test func anObjectOfAnotherClassIsATypeMismatch() throws {
    try storage.save(NSString("marker value"), forKey: "k")
    let failure = try #require(error { _ = try storage.load(NSURL.self, forKey: "k") })
    #expect(failure.code == .typeMismatch)
    #expect(!failure.description.contains("marker"))
    #expect(code { _ = try storage.load(String.self, forKey: "k") } == .typeMismatch)
    #expect(code { _ = try storage.load([Any].self, forKey: "k") } == .typeMismatch)
  }

  @Test func anObjectWhoseClassHasNoNameIsUnsupportedAndEndsNothing() throws {
    let failure = error { try storage.save(Nested(), forKey: "k") }
    #expect(failure?.code == .unsupported)
    #expect(code { try storage.set(object: Nested(), forKey: "k") } == .unsupported)
    #expect(try !storage.contains("k"))
  }

  @Test func anyObjectOfAPropertyListIsReadWithoutItsClass() throws {
    let list: NSArray = ["text", 7, true, Data([1]), NSNull(), ["key": "value"], NSUUID()]
    try storage.set(object: list, forKey: "list")
    let read = try #require(try storage.object(forKey: "list") as? NSArray)
    #expect(read == list)
    try storage.save([1, 2], forKey: "plain")
    #expect(try storage.object(forKey: "plain") as? [Int] == [1, 2])
    try storage.save(Theme.dark, forKey: "codable")
    #expect(code { _ = try storage.object(forKey: "codable") } == .typeMismatch)
  }

  @Test func aClassThatNobodyNamedIsNotMade() throws {
    try storage.save(Named(), forKey: "own")
    try storage.set(object: [Named()] as NSArray, forKey: "within")
    for key in ["own", "within"] {
      #expect(code { _ = try storage.object(forKey: key) } == .typeMismatch)
    }
    #expect(Named.made == 0)
    #expect(try storage.load(Named.self, forKey: "own") != nil)
    #expect(Named.made == 1)
  }

  @Test func anObjectThatCantBeArchivedIsUnsupported() {
    final class Opaque: NSObject {}
    let failure = error { try storage.save(Opaque(), forKey: "k") }
    #expect(failure?.code == .unsupported)
    #expect(failure?.message.contains("Codable") == true)
  }
}
