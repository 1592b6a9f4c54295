import CryptoCore
import Foundation
import StorageCore
import StorageTesting
import TestSupport
import Testing

/// No way of showing a value of ours shows a stored value, a default, a key or a passphrase.
@Suite struct DisclosureTests {
  private static let value = "VALUE-marker-one"
  private static let initial = "DEFAULT-marker-two"
  private static let passphrase = "PASSPHRASE-marker-three"
  private static let tag = "TAG-marker-four"
  private static let key = SymmetricKey(data: Array("KEY-marker-ghijklmnopqrstuvwxyz.".utf8))

  private let delegate = OpenDelegate()
  private let storage: DelegatedStorage
  private let source: KeySource

  init() throws {
    let passphrase = try SecureBytes(Array(Self.passphrase.utf8))
    source = .firstAvailable([
      .passphrase(Self.passphrase, derivation: .quick), .passphrase(passphrase), .key(Self.key),
      .passphrase { () throws(StorageError) in passphrase }, .environment("NAME"),
      .file(URL(fileURLWithPath: "/nowhere/a.key")), .systemdCredential("name"),
      .recovery(RecoveryKey(Self.key)), .provider(Provider()), .automatic,
    ])
    storage = .quiet(delegate, source, tag: Self.tag)
    try storage.save(Self.value, forKey: "k")
    try storage.keyAdministration.add(.key(Self.key))
  }

  private struct Provider: KeyProvider {
    let identifier = "mine"
    func material() throws(StorageError) -> KeyMaterial? { .key(DisclosureTests.key) }
  }

  private struct Settings {
    @Store<String, DelegatedStorage> var token: String?
    @UnwrappedStore<String, DelegatedStorage> var name: String
    @CodableStore<String, DelegatedStorage> var codable: String?
    @UnwrappedCodableStore<String, DelegatedStorage> var unwrappedCodable: String

    init(_ storage: DelegatedStorage) {
      _token = Store(storage, "k")
      _name = UnwrappedStore(wrappedValue: DisclosureTests.initial, storage, "absent")
      _codable = CodableStore(wrappedValue: DisclosureTests.initial, storage, "c")
      _unwrappedCodable = UnwrappedCodableStore(
        wrappedValue: DisclosureTests.initial, storage, "u")
    }
  }

  /// Everything that shows `subject` is without the markers.
  private func expectSilent(_ subject: Any, _ name: Comment) {
    let markers = [Self.value, Self.initial, Self.passphrase, Self.tag].map { Array($0.utf8) }
    let key = Self.key.withBytes { $0.copied() }
    for text in Disclosure.texts(of: subject) {
      for marker in markers + [key] {
        #expect(!Disclosure.shows(marker, in: text), name)
      }
    }
  }

  @Test func aMarkerThatIsShownIsNoticed() {
    let marker = Array(Self.value.utf8)
    for shown in [
      Self.value, "\(marker)", marker.hex, Data(marker).base64EncodedString(), Self.value + "!",
    ] { #expect(Disclosure.shows(marker, in: "before \(shown) after")) }
    #expect(!Disclosure.shows(marker, in: "marker"))
  }

  @Test func keysAndTheirSources() throws {
    expectSilent(Self.key, "SymmetricKey")
    expectSilent(source, "KeySource")
    expectSilent(KeyMaterial.key(Self.key), "KeyMaterial")
    let secret = try SecureBytes(Array(Self.passphrase.utf8))
    expectSilent(KeyMaterial.passphrase(secret), "KeyMaterial")
    expectSilent(RecoveryKey(Self.key), "RecoveryKey")
    expectSilent(
      SecureStorage.Configuration.self, "Configuration")
    expectSilent(storage.keyAdministration, "KeyAdministration")
    expectSilent(try storage.keyAdministration.slots(), "KeySlot")
    expectSilent(PassphraseDerivation.quick, "PassphraseDerivation")
  }

  @Test func storagesAndDelegates() throws {
    expectSilent(storage, "DelegatedStorage")
    expectSilent(storage.store, "SealedStore")
    expectSilent(storage.store.keys, "StoreKeys")
    expectSilent(delegate, "delegate")
    expectSilent(try delegate.records(), "records")
    expectSilent(try delegate.headerBytes(), "header")
    let plain = PlainDelegate()
    let direct = DelegatedStorage(
      plain, symmetricKey: Self.key, authenticationTag: Data(Self.tag.utf8))
    try direct.save(Self.value, forKey: "k")
    expectSilent(direct, "DelegatedStorage")
    expectSilent(direct.store, "SealedStore")
    expectSilent(plain, "delegate")
    let faulty = FaultyStorage()
    try faulty.save(Self.value, forKey: "k")
    expectSilent(faulty, "FaultyStorage")
    expectSilent(faulty.faults, "FaultyDelegate")
  }

  @Test func wrappersAndWhatHoldsThem() throws {
    let settings = Settings(storage)
    #expect(settings.token == Self.value && settings.name == Self.initial)
    expectSilent(settings, "a struct of wrappers")
    expectSilent(settings.$token, "Store")
    expectSilent(settings.$name, "UnwrappedStore")
    expectSilent(settings.$codable, "CodableStore")
    expectSilent(settings.$unwrappedCodable, "UnwrappedCodableStore")
    expectSilent(settings.$name.core, "PropertyCore")
    expectSilent(settings.$token.state, "PropertyState")
    expectSilent(PropertyState.value(Self.value), "PropertyState")
    expectSilent([settings.$token.state], "PropertyState in an array")
  }

  @Test func sequencesOfChanges() throws {
    let settings = Settings(storage)
    expectSilent(settings.$token.values, "PropertyValues")
    expectSilent(settings.$name.values, "PropertyValues with a default")
    expectSilent(settings.$unwrappedCodable.values, "PropertyValues with a default")
    expectSilent(settings.$token.states, "PropertyStates")
    expectSilent(settings.$token.values.makeAsyncIterator(), "PropertyValues.Iterator")
    expectSilent(settings.$name.values.makeAsyncIterator(), "PropertyValues.Iterator")
    expectSilent(settings.$token.states.makeAsyncIterator(), "PropertyStates.Iterator")
  }

  @Test func writesCodingsAndReports() throws {
    let (name, record) = try #require(try delegate.records().first)
    expectSilent(RecordChange(name: name, record: record), "RecordChange")
    expectSilent(RecordWrite(record, for: name, if: .equals(record)), "RecordWrite")
    expectSilent(CodableCoding.json, "CodableCoding")
    expectSilent(ReencryptionReport.self, "ReencryptionReport")
    expectSilent(try storage.keyAdministration.rotateDataKey(), "ReencryptionReport")
    expectSilent(try storage.listing(), "KeyListing")
    _ = try delegate.updateHeader { (_, records) throws(StorageError) in
      expectSilent(records, "HeldRecords")
    }
  }

  @Test func theConfiguration() async {
    await #expect(processExitsWith: .success) {
      SecureStorage.bootstrap(
        applicationID: "app",
        keySource: .passphrase("PASSPHRASE-marker-three", derivation: .quick))
      for text in Disclosure.texts(of: SecureStorage.configuration) {
        #expect(!text.contains("marker"))
      }
    }
  }

  @Test func everyFailureThatCanBeProvoked() throws {
    struct Number: Codable { var x = 1 }
    var failures: [StorageError?] = [
      error { _ = try storage.load(Int.self, forKey: "k") },
      error { _ = try storage.load(Number.self, forKey: "k") },
      error { _ = try storage.load([Any].self, forKey: "k") },
      error { try storage.save((Self.value, 1), forKey: "k") },
      error { try storage.save([Self.value, { () in }] as [Any], forKey: "k") },
      error { try storage.update(Int.self, forKey: "k") { $0 = 1 } },
      error { _ = try DelegatedStorage.quiet(delegate, source).load(String.self, forKey: "k") },
      error {
        let wrong = KeySource.passphrase(Self.passphrase + "x")
        _ = try DelegatedStorage.quiet(delegate, wrong).load(String.self, forKey: "k")
      },
      error { _ = try RecoveryKey(text: Self.passphrase) },
    ]
    let folder = try TemporaryFolder()
    let file = try folder.write(Self.passphrase, to: "a.key", permissions: 0o644)
    failures.append(error { try DelegatedStorage.quiet(OpenDelegate(), .file(file)).open() })
    let (name, record) = try #require(try delegate.records().first)
    try delegate.replace(name, with: record.dropLast() + [record[record.count - 1] ^ 1])
    failures.append(error { _ = try storage.load(String.self, forKey: "k") })
    let log = ErrorLog()
    storage.errorClosure = { log.add($0) }
    let property = Store<String, DelegatedStorage>(storage, "k")
    _ = property.wrappedValue
    property.wrappedValue = Self.value
    failures += log.errors
    #expect(failures.compactMap { $0 }.count == failures.count)
    for failure in failures { expectSilent(failure as Any, "\(String(describing: failure))") }
  }
}
