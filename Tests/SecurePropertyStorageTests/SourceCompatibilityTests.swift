import Foundation
import SecurePropertyStorage
import Testing

// Code as it is written for the Apple package of the same name, with one import. That it compiles
// is half of the test.

enum Theme: String, Codable {
  case dark
  case light
}

let taggedStorage: DelegatedStorage = SingletonStorage(authenticationTag: Data("tag".utf8))

final class AppleStyle {
  @Store(taggedStorage, "tagged") var tagged: String?
  @Store(SingletonStorage.standard, "compat.store") var store: String?
  @Singleton("compat.store") var singleton: String?
  @Store(taggedStorage, "tagged.default") var taggedDefault = "default"
  @Singleton("compat.default") var singletonDefault = "default"
  @CodableStore(taggedStorage, "tagged.codable") var taggedCodable = Theme.dark
  @CodableSingleton("compat.codable") var codable = Theme.dark
  @UnwrappedStore(taggedStorage, "tagged.unwrapped") var taggedUnwrapped = "default"
  @UnwrappedSingleton("compat.unwrapped") var unwrapped = "default"
  @UnwrappedCodableStore(taggedStorage, "tagged.unwrapped.codable") var taggedBoth = Theme.dark
  @UnwrappedCodableSingleton("compat.unwrapped.codable") var both = Theme.dark
}

@Suite struct SourceCompatibilityTests {
  @Test func theWrappersOfTheApplePackageWorkAsTheyDidThere() {
    let app = AppleStyle()
    app.store = "one"
    #expect(app.singleton == "one")
    app.tagged = "two"
    #expect(app.tagged == "two")
    SingletonStorage.standard.register(defaults: ["compat.store": "three", "compat.new": 4])
    #expect(app.store == "one")
    #expect(SingletonStorage.standard.integer(forKey: "compat.new") == 4)
    #expect(app.taggedDefault == "default" && app.singletonDefault == "default")
    app.singletonDefault = nil
    #expect(app.singletonDefault == nil)
    #expect(app.taggedCodable == .dark && app.codable == .dark)
    app.codable = nil
    #expect(app.codable == nil)
    app.taggedUnwrapped = "other"
    app.unwrapped = "other"
    app.taggedBoth = .light
    app.both = .light
    #expect(app.taggedUnwrapped == "other" && app.unwrapped == "other")
    #expect(app.taggedBoth == .light && app.both == .light)
  }

  @Test func theCallsOfAStorageTakeAndGiveTheirTypes() {
    let storage = SingletonStorage()
    storage.set([1], forKey: "array")
    #expect(storage.array(forKey: "array") as? [Int] == [1])
    storage.set(Set([1]), forKey: "set")
    #expect(storage.set(forKey: "set")?.randomElement() == 1)
    storage.set(["key": 1], forKey: "dictionary")
    #expect(storage.dictionary(forKey: "dictionary") as? [String: Int] == ["key": 1])
    storage.set(["one"], forKey: "strings")
    #expect(storage.stringArray(forKey: "strings") == ["one"])
    storage.set(1, forKey: "integer")
    #expect(storage.integer(forKey: "integer") == 1)
    storage.set(Float(1), forKey: "float")
    #expect(storage.float(forKey: "float") == 1)
    storage.set(1.0, forKey: "double")
    #expect(storage.double(forKey: "double") == 1)
    storage.set(true, forKey: "bool")
    #expect(storage.bool(forKey: "bool"))
    let url = URL(string: "https://example.org")
    storage.set(url, forKey: "url")
    #expect(storage.url(forKey: "url") == url)
    storage.set(encodable: Theme.light, forKey: "codable")
    let theme: Theme? = storage.decodable(forKey: "codable")
    #expect(theme == .light)
    let data: Data? = storage.data(forKey: "missing")
    #expect(data == nil)
    let none: Int? = nil
    storage.set(none, forKey: "integer")
    #expect(storage.integer(forKey: "integer") == 0)
    storage.remove(forKey: "bool")
    #expect(!storage.bool(forKey: "bool"))
  }

  @Test func theErrorClosureOfAStorageGetsWhatACallCantThrow() {
    let storage = DelegatedStorage(
      SingletonStorageDelegate(), symmetricKey: nil, authenticationTag: nil,
      errorClosure: nil)
    let codes = Codes()
    storage.errorClosure = { error in
      if let error = error as? StorageError { codes.add(error.code) }
    }
    storage.set("plaintext?", forKey: "key")
    #expect(codes.all == [.keyUnavailable])
  }
}

/// Codes that a closure collects.
final class Codes: @unchecked Sendable {
  // Guarded by `lock`.
  private var codes: [StorageError.Code] = []
  private let lock = NSLock()

  func add(_ code: StorageError.Code) { lock.withLock { codes.append(code) } }
  var all: [StorageError.Code] { lock.withLock { codes } }
}
