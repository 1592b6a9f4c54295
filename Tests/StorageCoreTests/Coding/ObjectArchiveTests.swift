import Foundation
import StorageCore
import Testing

@Suite struct ObjectArchiveTests {
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

  @Test func aPropertyCanHoldAnObject() {
    let property = Store<NSString, DelegatedStorage>(storage, "k")
    property.wrappedValue = "text"
    #expect(property.wrappedValue == "text")
  }

  @Test func anObjectThatCantBeArchivedIsUnsupported() {
    final class Opaque: NSObject {}
    let failure = error { try storage.save(Opaque(), forKey: "k") }
    #expect(failure?.code == .unsupported)
    #expect(failure?.message.contains("Codable") == true)
  }
}
