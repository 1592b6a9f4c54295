import Foundation
import StorageCore
import Testing

/// The calls that an application's code made of the Apple package.
@Suite struct CompatibilityCallsTests {
  private let storage = DelegatedStorage.fresh()

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
    let user: [String: Int]? = storage.decodable(forKey: "k")
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
