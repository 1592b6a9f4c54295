import CryptoCore
import DefaultsBackend
import FileBackend
import Foundation
import SingletonBackend
import StorageCore
import StorageFoundation
import StorageTesting
import TestSupport
import Testing
import VaultBackend

/// Every public type of the modules that handle keys and values, in use, shown in every way that
/// Swift has: no key, passphrase, default or value of it appears.
@Suite struct DisclosureTests {
  private static let modules = [
    "CryptoCore", "StorageCore", "SingletonBackend", "DefaultsBackend", "VaultBackend",
    "FileBackend", "StorageTesting",
  ]
  /// Types without values of their own, and an actor, deprecated, that has no state.
  private static let empty: Set = [
    "CryptoCore.KeyDerivation", "StorageCore.SecureStorage", "StorageCore.StorageDiagnostics",
    "StorageCore.StorageActor", "StorageTesting.StorageTestCase",
  ]

  @Test func noPublicTypeShowsAKeyOrAValue() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    let shown = try Showing(folder)
    try shown.cryptography()
    try shown.values()
    try shown.keys()
    try shown.delegates()
    try shown.storages()
    try shown.administration()
    try shown.folders()
    try shown.migrations()
    try shown.errors()
    var declared: Set<String> = []
    for module in Self.modules { declared.formUnion(try PublicTypes.names(ofModule: module)) }
    // That the sources were found and understood.
    #expect(declared.count > 60 && declared.isSuperset(of: ["StorageCore.StorageError.Code"]))
    #expect(declared.subtracting(shown.types).sorted() == Self.empty.sorted())
  }

  /// A search that finds nothing anywhere would pass every test here.
  @Test func theSearchFindsWhatIsThere() {
    struct Outer { var inner = ["": Array(Marker.value.utf8)] }
    let bytes = Array(Marker.value.utf8)
    let leaks: [Any] = [
      Outer(), Marker.value, bytes.hex, "<" + bytes.hex.uppercased() + ">", bytes.map { Int($0) },
      Data(bytes).base64EncodedString(),
      NSError(domain: "bad passphrase \(Marker.value.prefix(9))", code: 1),
    ]
    for leak in leaks {
      #expect(Disclosure.texts(of: leak).contains { Disclosure.shows(bytes, in: $0) }, "\(leak)")
      #expect(!Disclosure.forms(of: bytes, in: leak).isEmpty, "\(leak)")
    }
  }

  @Test func whatGoesToStandardErrorAndTheConfigurationShowNoKeyAndNoValue() async throws {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      let storage = InMemoryStorage(authenticationTag: Data(Marker.tag.utf8))
      let other = Store<Int, InMemoryStorage>(storage, "a key")
      Store<String, InMemoryStorage>(storage, "a key").wrappedValue = Marker.value
      #expect(other.wrappedValue == nil)
      storage.set((Marker.value, 1), forKey: "another key")
    }
    await #expect(processExitsWith: .success) {
      SecureStorage.bootstrap(applicationID: "app", keySource: .passphrase(Marker.passphrase))
      for text in Disclosure.texts(of: SecureStorage.configuration) {
        #expect(!text.contains("marker"))
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("typeMismatch") && text.contains("unsupported"))
    #expect(!Marker.all.contains { Disclosure.shows($0, in: text) })
  }
}

/// What must not be seen.
enum Marker {
  static let value = "VALUE-marker-one"
  static let initial = "DEFAULT-marker-two"
  static let passphrase = "PASSPHRASE-marker-three"
  static let tag = "TAG-marker-four"
  static let keyText = "KEY-marker-ghijklmnopqrstuvwxyz."
  static let key = SymmetricKey(data: Array(keyText.utf8))
  static let all = [value, initial, passphrase, tag, keyText].map { Array($0.utf8) }
  static let recovery = RecoveryKey(key)
}

/// Shows values, and remembers of which types.
final class Showing {
  private(set) var types: Set<String> = []
  let folder: URL
  private let markers: [[UInt8]]

  init(_ folder: URL) throws {
    self.folder = folder
    markers = Marker.all + [try Marker.recovery.withText { Array($0.utf8) }]
  }

  func show(_ subjects: Any..., sourceLocation: SourceLocation = #_sourceLocation) {
    for subject in subjects {
      let type = Self.name(of: subject)
      types.insert(type)
      let description = (subject as? any Error)?.localizedDescription ?? ""
      for text in Disclosure.texts(of: subject) + [description] {
        for marker in markers where Disclosure.shows(marker, in: text) {
          Issue.record("\(type) shows a marker: \(text)", sourceLocation: sourceLocation)
        }
      }
    }
  }

  /// The type's name, without what it is generic over.
  private static func name(of subject: Any) -> String {
    var depth = 0
    return String(reflecting: type(of: subject)).filter { character in
      if character == "<" { depth += 1 }
      defer { if character == ">" { depth -= 1 } }
      return depth == 0
    }
  }

  // MARK: - CryptoCore

  func cryptography() throws {
    let names = try KeyedHash(Marker.key)
    let context = RecordContext(
      store: try .random(), name: try names.hash(name: "a key"),
      authenticationTag: Array(Marker.tag.utf8))
    let value = Array(Marker.value.utf8)
    // After use, when the contexts hold the expanded keys.
    let algorithms = [AEADAlgorithm.aes256GCM, .chaCha20Poly1305, .xaes256GCM]
    let dataKeys = try algorithms.map { try DataKey(Marker.key, id: 7, algorithm: $0) }
    for dataKey in dataKeys {
      let record = try unsafe dataKey.seal(value.span.bytes, for: context)
      _ = try unsafe dataKey.openedData(record.span.bytes, for: context)
      show(dataKey, try unsafe RecordHeader(reading: record.span.bytes))
    }
    show(names, context, context.name, try StoreID.random(), Marker.key)
    show(AEADAlgorithm.aes256GCM)
    show(DerivationHash.sha512, SymmetricKeySize.bits256)
    show(Marker.key.bytes, [Marker.key], ["key": Marker.key], Optional(Marker.key) as Any)
    #expect("\(Marker.key) \(Marker.key.bytes)" == "SymmetricKey(256 bits) SecureBytes(32 bytes)")
    let passphrase = try SecureBytes(Array(Marker.passphrase.utf8))
    show(passphrase, try SecureBytes(value))
    let record = try unsafe dataKeys[0].seal(value.span.bytes, for: context) + [0]
    func scrypt(_ cost: Int) throws {
      _ = try KeyDerivation.scrypt(
        passphrase, salt: [], cost: cost, blockSize: 8, parallelism: 1, count: 32)
    }
    let failures: [() throws -> Void] = [
      { _ = try unsafe dataKeys[0].openedData(value.span.bytes, for: context) },
      { _ = try unsafe dataKeys[0].openedData(record.span.bytes, for: context) },
      { _ = try DataKey(SymmetricKey(data: Array(Marker.passphrase.utf8)), id: 1) },
      { _ = try KeyDerivation.hkdf(passphrase, salt: [], info: [], count: 0) },
      { _ = try KeyDerivation.pbkdf2(passphrase, salt: [], rounds: 0, count: 32) },
      { try scrypt(3) }, { try scrypt(1 << 30) },
      {
        _ = try KeyDerivation.argon2id(
          passphrase, salt: [], memory: 64, passes: 1, lanes: 1, count: 32)
      },
    ]
    for (index, failure) in failures.enumerated() {
      let error = #expect(throws: CryptoError.self, "failure \(index)") { try failure() }
      if let error { show(error, error.code, error as NSError) }
    }
  }

  // MARK: - StorageCore

  func values() throws {
    let storage = InMemoryStorage(authenticationTag: Data(Marker.tag.utf8))
    try storage.save(Marker.value, forKey: "k")
    let store = Store<String, InMemoryStorage>(wrappedValue: Marker.initial, storage, "k")
    let unwrapped = UnwrappedStore(wrappedValue: Marker.initial, storage, "absent")
    let codable = CodableStore(wrappedValue: [Marker.initial], storage, "c")
    let both = UnwrappedCodableStore(wrappedValue: [Marker.initial], storage, "u")
    #expect(store.wrappedValue == Marker.value && unwrapped.wrappedValue == Marker.initial)
    #expect(codable.wrappedValue == [Marker.initial] && both.wrappedValue == [Marker.initial])
    show(store, unwrapped, codable, both, unwrapped.core, store.state, unwrapped.state)
    show(store.core.failedRead)
    show(store.values, unwrapped.values, store.states, both.values, codable.states)
    show(store.values.makeAsyncIterator(), unwrapped.values.makeAsyncIterator())
    show(store.states.makeAsyncIterator())
    try storage.transaction { transaction in
      #expect(try transaction.load(String.self, forKey: "k") == Marker.value)
      try transaction.save(Marker.value, forKey: "l")
      try transaction.save(encodable: [Marker.value], forKey: "m")
      show(transaction)
    }
    show(CodableCoding.json, CodableCoding.propertyList)
    let encoded = EncodedValue(Data("[\"\(Marker.value)\"]".utf8), coding: .json)
    show(encoded, encoded.coding, try AnyStorableValue(Marker.value))
    let summary = try #require(try storage.summary(forKey: "k"))
    show(summary, summary.type, try storage.listing(), StorageError.Code.damaged)
    show(SecureStorage.configuration, StoreAccess.mustExist)
    show(StoreExistence.mustExist, FolderTrust.processGroup)
  }

  func keys() throws {
    let secret = try SecureBytes(Array(Marker.passphrase.utf8))
    show(KeySource.key(Marker.key), KeySource.passphrase(Marker.passphrase))
    show(KeySource.passphrase(secret), KeySource.recovery(Marker.recovery), Marker.recovery)
    show(KeyCommand(["/bin/echo", Marker.passphrase]))
    show(KeySource.firstAvailable([.key(Marker.key), .passphrase(Marker.passphrase)]))
    show(KeyMaterial.key(Marker.key), KeyMaterial.passphrase(secret))
    show(PassphraseDerivation.scrypt(cost: 16).withoutFloor)
    let provider = CustomProvider()
    show(KeySource.provider(provider), KeySource.passphrase { () throws(StorageError) in secret })
    let hash = try KeyedHash(Marker.key)
    let sealing = try SealingKey(Marker.key)
    show(sealing)
    show(ManifestKeys(records: hash, removals: hash, manifest: sealing))
  }

  private struct CustomProvider: KeyProvider {
    let identifier = "mine"
    func material() throws(StorageError) -> KeyMaterial? { .key(Marker.key) }
  }

  // MARK: - Backends

  private var source: KeySource {
    .firstAvailable([
      .key(Marker.key), .passphrase(Marker.passphrase, derivation: .scrypt(cost: 16).withoutFloor),
    ])
  }

  func suite(_ name: String) -> DefaultsDelegate {
    DefaultsDelegate(folder: folder.path, suiteName: name)
  }

  func vault(_ name: String) -> URL {
    folder.appendingPathComponent(name + ".vault", isDirectory: false)
  }

  func delegates() throws {
    let delegates: [any RecordPlace] = [
      SingletonStorageDelegate(), suite("delegates"), FaultyDelegate(),
      VaultDelegate(at: vault("delegates")),
    ]
    for delegate in delegates {
      let changes = Lock<[RecordChange]>([])
      let observation = delegate.observe { change in changes.withLock { $0.append(change) } }
      let storage = DelegatedStorage(
        delegate, keySource: source, authenticationTag: Data(Marker.tag.utf8))
      try storage.save(Marker.value, forKey: "k")
      #expect(try storage.load(String.self, forKey: "k") == Marker.value)
      show(delegate, storage, storage.store, observation)
      if let identity = delegate.identity { show(identity) }
      let change = try #require(changes.withLock { $0.first })
      let record = try #require(change.record)
      show(change, RecordWrite(record, for: change.name), RecordWrite.Condition.equals(record))
      let outcome = try delegate.commit(
        RecordWrite(record, for: change.name, if: .absent), headerVersion: delegate.header().version
      )
      show(outcome)
      _ = try delegate.updateHeader { (_, records) throws(StorageError) in show(records) }
      if let all = try delegate.allRecords() { show(all) }
      let copy = try unsafe withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) {
        unsafe try delegate.copyRecord(change.name, into: $0)
      }
      if let copy { show(copy) }
    }
    let observers = ChangeObservers()
    let marker = Marker.value
    let observation = observers.add { _ in _ = marker }
    show(observers, observation, DefaultsDurability.immediate, StoreAccess.readOnly)
    show(FaultyDelegate.Fault.corruption, FaultyDelegate.Operations.all)
  }

  func storages() throws {
    let tag = Data(Marker.tag.utf8)
    let storages: [DelegatedStorage] = [
      SingletonStorage(authenticationTag: tag), InMemoryStorage(authenticationTag: tag),
      FaultyStorage(), UserDefaultsStorage(suite("storages"), keySource: source),
      VaultStorage(at: vault("storages"), keySource: source, authenticationTag: tag),
    ]
    for storage in storages {
      try storage.save(Marker.value, forKey: "k")
      try storage.save(encodable: [Marker.value], forKey: "c")
      let property = Store<String, DelegatedStorage>(wrappedValue: Marker.initial, storage, "i")
      #expect(property.wrappedValue == Marker.initial)
      show(storage, storage.store, property, property.state, property.values)
      let live = Live<String?, DelegatedStorage>(storage, "k")
      #expect(live.wrappedValue == Marker.value)
      show(live, live.projectedValue, live.live, storage.store.keys)
    }
    let direct = DelegatedStorage(
      SingletonStorageDelegate(), symmetricKey: Marker.key, authenticationTag: tag)
    try direct.save(Marker.value, forKey: "k")
    show(direct, direct.store)
    show(StorageTrait.storage(), TestStorage.inMemory)
  }

  func administration() throws {
    let url = vault("administration")
    try keyAdministration(url)
    // Nobody has it open any more: all of it is in the one file.
    let delegate = VaultDelegate(at: url, access: .readOnly)
    let name = try #require(try delegate.names().first)
    let record = try #require(try delegate.record(for: name))
    var file = try Data(contentsOf: url)
    let range = try #require(file.range(of: Data(record)))
    file[range.upperBound - 1] ^= 1
    let damaged = vault("damaged")
    try file.write(to: damaged)
    // Whatever the umask of the process is while others test theirs.
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: damaged.path)
    let storage = VaultStorage(at: damaged, keySource: source)
    let report = try storage.verify()
    let finding = try #require(report.findings.first)
    show(report, finding, finding.kind, try storage.previewRepair(accepting: report))
    show(try storage.restore(from: url))
    show(SQLiteVersion.current)
  }

  private func keyAdministration(_ url: URL) throws {
    let storage = VaultStorage(at: url, keySource: source)
    try storage.save(Marker.value, forKey: "k")
    let keys = storage.keyAdministration
    try keys.add(.passphrase(Marker.passphrase, derivation: .scrypt(cost: 16).withoutFloor))
    try keys.add(.recovery(Marker.recovery))
    for slot in try keys.slots() { show(slot) }
    show(keys, try keys.rotateDataKey())
  }

  func folders() throws {
    let url = folder.appendingPathComponent("files", isDirectory: true)
    let sealed = SealedFolder(at: url, keySource: source)
    let long = Data(String(repeating: Marker.value, count: 5000).utf8)
    try sealed.write(long, named: "long")
    try sealed.write(Data(Marker.value.utf8), named: "short")
    show(sealed, SealedFileCoding<Data>.bytes)
    for name in ["long", "short"] {
      let reader = try #require(try sealed.reader(named: name))
      _ = try reader.read(0..<16)
      show(reader, reader.makeAsyncIterator(), try #require(try sealed.info(named: name)))
    }
    let writer = try sealed.writer(named: "new")
    try writer.write(long)
    show(writer)
    try sealed.transaction { transaction in
      try transaction.write(long, named: "other")
      show(transaction)
    }
    let states = sealed.states(named: "short")
    show(states, states.makeAsyncIterator())
    let file = SealedFile<Data>("long", in: sealed)
    show(file, file.core, CodableSealedFile<String>("user", in: sealed))
    show(UnwrappedSealedFile(wrappedValue: Marker.initial, "absent", in: sealed))
    show(UnwrappedCodableSealedFile(wrappedValue: [Marker.initial], "absent", in: sealed))
    try findings(in: sealed, at: url)
  }

  private func findings(in sealed: SealedFolder, at url: URL) throws {
    let index = VaultStorage(at: url.appendingPathComponent("index.vault"), keySource: source)
    try index.save(Data([9] + Marker.value.utf8), forKey: "newer")
    let backup = try sealed.backup(
      to: folder.appendingPathComponent("copy"), leavingOutUnreadable: true)
    show(backup, try #require(backup.leftOut.first))
    try index.delete(forKey: "newer")
    let blobs = url.appendingPathComponent("blobs")
    try Data([1]).write(to: blobs.appendingPathComponent(String(repeating: "0f", count: 16)))
    let report = try sealed.verify()
    let finding = try #require(report.findings.first)
    show(report, finding, finding.kind, try sealed.repair(accepting: report), try sealed.rotate())
  }

  func migrations() throws {
    final class PlainDefaults: UserDefaults {
      var values: [String: Any] = ["k": Marker.value, "conflict": Marker.value]
      override func object(forKey key: String) -> Any? { values[key] }
      override func removeObject(forKey key: String) { values[key] = nil }
      override func synchronize() -> Bool { true }
    }
    let storage = UserDefaultsStorage(suite("migration"), keySource: source)
    try storage.save(Marker.initial, forKey: "conflict")
    let plain = try #require(PlainDefaults(suiteName: "unused"))
    show(try storage.migrate(from: plain, keys: ["k", "conflict", "absent"]))
    let other = InMemoryStorage()
    try other.save(Marker.value, forKey: "conflict")
    show(try SecureStorage.migrate(from: storage, to: other), MigrationConflictPolicy.replace)
  }
}
