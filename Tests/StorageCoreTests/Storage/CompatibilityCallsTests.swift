import Foundation
import StorageCore
import Testing

/// The calls that an application's code made of the Apple package.
@Suite struct CompatibilityCallsTests {
  private let storage = DelegatedStorage.fresh()

  private struct User: Codable, Equatable {
    var name = "Ada"
    var age = 36
  }

  @Test func everyTypedCallReadsWhatSetStored() throws {
    storage.set(7, forKey: "integer")
    storage.set(1.5 as Float, forKey: "float")
    storage.set(2.5, forKey: "double")
    storage.set(true, forKey: "bool")
    storage.set("text", forKey: "string")
    storage.set(Data([1, 2]), forKey: "data")
    storage.set([1, 2], forKey: "array")
    storage.set(["a", "b"], forKey: "stringArray")
    storage.set(Set(["a"]), forKey: "set")
    storage.set(["a": 1], forKey: "dictionary")
    storage.set(URL(string: "https://example.com/a?b=c"), forKey: "url")
    storage.set(encodable: User(), forKey: "user")

    #expect(storage.integer(forKey: "integer") == 7)
    #expect(storage.float(forKey: "float") == 1.5)
    #expect(storage.double(forKey: "double") == 2.5)
    #expect(storage.bool(forKey: "bool"))
    #expect(storage.string(forKey: "string") == "text")
    #expect(storage.data(forKey: "data") == Data([1, 2]))
    #expect(storage.array(forKey: "array") as? [Int] == [1, 2])
    #expect(storage.stringArray(forKey: "stringArray") == ["a", "b"])
    #expect(storage.set(forKey: "set") == Set(["a"]))
    #expect(storage.set(forKey: "set") == Set<AnyHashable>(["a"]))
    #expect(storage.dictionary(forKey: "dictionary") as? [String: Int] == ["a": 1])
    #expect(storage.url(forKey: "url") == URL(string: "https://example.com/a?b=c"))
    #expect(storage.decodable(forKey: "user") == User())
    #expect(storage.value(forKey: "integer") == 7)
  }

  @Test func settingNilRemoves() {
    for key in ["a", "b", "c", "d"] { storage.set("text", forKey: key) }
    storage.set(nil as String?, forKey: "a")
    let value: Int? = nil
    storage.set(value, forKey: "b")
    storage.set(encodable: nil, forKey: "c")
    storage.remove(forKey: "d")
    for key in ["a", "b", "c", "d"] { #expect(storage.string(forKey: key) == nil) }
    #expect(storage.integer(forKey: "b") == 0)
  }

  @Test func absentReadsAsZeroFalseAndNil() {
    #expect(storage.integer(forKey: "k") == 0)
    #expect(storage.float(forKey: "k") == 0)
    #expect(storage.double(forKey: "k") == 0)
    #expect(!storage.bool(forKey: "k"))
    #expect(storage.string(forKey: "k") == nil)
    #expect(storage.data(forKey: "k") == nil)
    #expect(storage.array(forKey: "k") == nil)
    #expect(storage.stringArray(forKey: "k") == nil)
    #expect(storage.dictionary(forKey: "k") == nil)
    #expect(storage.url(forKey: "k") == nil)
    let user: User? = storage.decodable(forKey: "k")
    #expect(user == nil)
    let set: Set<String>? = storage.set(forKey: "k")
    #expect(set == nil)
  }

  @Test func anotherTypeIsReportedAndNotConverted() {
    let log = ErrorLog()
    storage.errorClosure = { log.add($0) }
    storage.set("seven", forKey: "k")
    #expect(storage.integer(forKey: "k") == 0)
    #expect(!storage.bool(forKey: "k"))
    #expect(storage.data(forKey: "k") == nil)
    #expect(storage.array(forKey: "k") == nil)
    #expect(log.codes == [.typeMismatch, .typeMismatch, .typeMismatch, .typeMismatch])
    #expect(storage.string(forKey: "k") == "seven")
  }

  @Test func exactTextIsReadAsANumberOrATruthValue() {
    let log = ErrorLog()
    storage.errorClosure = { log.add($0) }
    storage.set("7", forKey: "k")
    #expect(storage.integer(forKey: "k") == 7)
    #expect(storage.double(forKey: "k") == 7)
    storage.set("true", forKey: "k")
    #expect(storage.bool(forKey: "k"))
    #expect(log.codes.isEmpty)
  }

  @Test func defaultsAreStoredWhereThereIsNoValueAndNowhereElse() {
    storage.set("mine", forKey: "a")
    storage.register(defaults: ["a": "default", "b": 2, "c": ["x", "y"], "d": true])
    #expect(storage.string(forKey: "a") == "mine")
    #expect(storage.integer(forKey: "b") == 2)
    #expect(storage.stringArray(forKey: "c") == ["x", "y"])
    #expect(storage.bool(forKey: "d"))
    storage.register(defaults: ["b": 3])
    #expect(storage.integer(forKey: "b") == 2)
    storage.register(defaults: [:])
  }

  @Test func defaultsOfWhichOneCantBeStoredAreNotStoredAtAll() throws {
    final class Opaque {}
    let log = ErrorLog()
    storage.errorClosure = { log.add($0) }
    storage.register(defaults: ["a": 1, "b": Opaque(), "c": 3])
    #expect(log.codes == [.unsupported])
    #expect(log.errors.first?.key == "b")
    storage.register(defaults: ["a": 1, "": 2])
    #expect(log.codes == [.unsupported, .invalid])
    #expect(try storage.keys().isEmpty)
  }
}
