import Foundation
import SecurePropertyStorage
import StorageTesting
import Testing

// Storages as code of the Apple package makes and calls them, after its imports were changed. Tests
// of names that are there for such code alone are deprecated themselves, so that no warning stops
// them.

private struct Chart: Codable, Equatable, Sendable { var name = "Sound", scale = 25_000 }

final class Buoy: NSObject, NSSecureCoding {
  static var supportsSecureCoding: Bool { true }
  let light: Int
  init(light: Int) { self.light = light }
  init?(coder: NSCoder) { light = coder.decodeInteger(forKey: "light") }
  func encode(with coder: NSCoder) { coder.encode(light, forKey: "light") }
}

/// Codes that a closure collects.
private final class Codes: @unchecked Sendable {
  // Guarded by `lock`.
  private var codes: [StorageError.Code] = []
  private let lock = NSLock()

  func add(_ error: Error) {
    if let error = error as? StorageError { lock.withLock { codes.append(error.code) } }
  }
  var all: [StorageError.Code] { lock.withLock { codes } }
}

@Suite(.storage()) struct MovedStorageTests {
  @Test func typedCallsGiveWhatWasSet() {
    let storage = SingletonStorage.standard
    storage.register(defaults: ["buoys": 12, "port": "Weir"])
    storage.set("Lock", forKey: "port")
    storage.register(defaults: ["port": "Weir"])
    #expect(storage.integer(forKey: "buoys") == 12 && storage.string(forKey: "port") == "Lock")
    storage.set(["N", "S"], forKey: "lights")
    storage.set(["draught": 4], forKey: "limits")
    storage.set(Set([1, 2]), forKey: "locks")
    storage.set(Float(0.5), forKey: "rise")
    storage.set(7.5, forKey: "fall")
    storage.set(true, forKey: "closed")
    storage.set(Data([1]), forKey: "seal")
    storage.set(URL(string: "https://example.org/tides"), forKey: "source")
    storage.set(encodable: Chart(), forKey: "chart")
    #expect(storage.array(forKey: "lights") as? [String] == ["N", "S"])
    #expect(storage.stringArray(forKey: "lights") == ["N", "S"])
    #expect(storage.dictionary(forKey: "limits") as? [String: Int] == ["draught": 4])
    #expect(storage.set(forKey: "locks") == Set<AnyHashable>([1, 2]))
    #expect(storage.float(forKey: "rise") == 0.5 && storage.double(forKey: "fall") == 7.5)
    #expect(storage.bool(forKey: "closed") && storage.data(forKey: "seal") == Data([1]))
    #expect(storage.url(forKey: "source")?.host == "example.org")
    let chart: Chart? = storage.decodable(forKey: "chart")
    #expect(chart == Chart() && storage.value(forKey: "fall") as? Double == 7.5)
    storage.remove(forKey: "closed")
    #expect(!storage.bool(forKey: "closed"))
  }

  @Test func objectsOfFoundationComeBack() throws {
    let storage = SingletonStorage()
    try storage.set(object: NSURL(string: "https://example.org/buoys"), forKey: "page")
    try storage.set(object: NSNumber(value: 3), forKey: "count")
    try storage.set(object: "plain", forKey: "text")
    #expect(
      (try storage.object(forKey: "page") as? NSURL)?.absoluteString
        == "https://example.org/buoys")
    #expect(try storage.object(forKey: "count") as? Int == 3)
    #expect(try storage.object(forKey: "text") as? String == "plain")
    #expect(try storage.object(forKey: "none") == nil)
    try storage.set(object: nil, forKey: "text")
    #expect(try storage.object(forKey: "text") == nil)
  }

  @Test func anObjectOfTheAppsIsReadByItsName() throws {
    let storage = SingletonStorage()
    try storage.set(object: Buoy(light: 7), forKey: "buoy")
    let error = #expect(throws: StorageError.self) { try storage.object(forKey: "buoy") }
    #expect(error?.code == .typeMismatch)
    #expect(try storage.load(Buoy.self, forKey: "buoy")?.light == 7)
  }

  @available(*, deprecated) @Test func theKeychainsStorageIsSetUpAfterItWasMade() throws {
    let storage = KeychainStorage()
    storage.accessGroup = "harbour"
    storage.synchronizable = false
    storage.accessible = .afterFirstUnlock
    storage.set("kept", forKey: "code")
    #expect(storage.string(forKey: "code") == "kept" && storage.accessGroup == "harbour")
    #expect(KeychainStorage(accessGroup: "harbour").string(forKey: "code") == "kept")
    #expect(KeychainStorage().string(forKey: "code") == nil)
  }

  @available(*, deprecated) @Test func whatTheKeyringCanNotDoIsAnErrorAndNotIgnored() {
    let storage = KeychainStorage(authenticationTag: Data("tag".utf8))
    let codes = Codes()
    storage.errorClosure = { codes.add($0) }
    storage.synchronizable = true
    storage.set("not sent anywhere", forKey: "code")
    #expect(codes.all == [.unsupported])
    storage.synchronizable = false
    storage.set("kept", forKey: "code")
    #expect(codes.all == [.unsupported] && storage.string(forKey: "code") == "kept")
    storage.accessGroup = "another"
    storage.set("lost?", forKey: "code")
    #expect(storage.string(forKey: "code") == nil)
    #expect(codes.all == [.unsupported, .unsupported, .unsupported])
    storage.accessGroup = nil
    #expect(storage.string(forKey: "code") == "kept")
  }

  @available(*, deprecated) @Test func aKeyMadeWithoutTryOpensWhatItSealed() throws {
    let records = SingletonStorageDelegate()
    let storage = DelegatedStorage(
      records, symmetricKey: SymmetricKey.generate(), authenticationTag: nil, errorClosure: nil)
    storage.set("sealed", forKey: "cargo")
    let key = try SymmetricKey.generate()
    let again = DelegatedStorage(records, symmetricKey: key)
    #expect(try again.load(String.self, forKey: "cargo") == "sealed")
  }

  @Test func aStorageWithoutAKeyStoresNothing() {
    let codes = Codes()
    let storage = DelegatedStorage(
      SingletonStorageDelegate(), symmetricKey: nil, authenticationTag: nil
    ) { error in codes.add(error) }
    storage.set("plain?", forKey: "cargo")
    #expect(codes.all == [.keyUnavailable])
  }

  @available(*, deprecated)
  @Test(
    .enabled(
      if: ProcessInfo.processInfo.environment["SPS_PRIVATE_ENVIRONMENT"] == "1",
      "run by make test, which gives it folders of its own"))
  func aSuiteTakesAKeyMadeWithoutTry() throws {
    let name = "moved.\(UUID().uuidString)"
    let suite = UserDefaultsStorage(suiteName: name, symmetricKey: SymmetricKey.generate())!
    suite.set("sealed", forKey: "cargo")
    let again = UserDefaultsStorage(suiteName: name, symmetricKey: SymmetricKey.generate())
    #expect(again?.string(forKey: "cargo") == "sealed")
    #expect(UserDefaultsStorage(suiteName: "a/b", symmetricKey: SymmetricKey.generate()) == nil)
    let standard = UserDefaultsStorage(authenticationTag: Data("tag".utf8))
    standard.set(1, forKey: "moved.tagged")
    #expect(standard.integer(forKey: "moved.tagged") == 1)
  }

  @available(*, deprecated) @StorageActor @Test func annotationsOfTheActorCompile() {
    let storage = SingletonStorage()
    storage.set(1, forKey: "crane")
    #expect(storage.integer(forKey: "crane") == 1)
  }
}
