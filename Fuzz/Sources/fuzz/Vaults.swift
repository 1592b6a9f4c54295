import CryptoCore
import Foundation

@testable import StorageCore
@testable import VaultBackend

extension Target {
  /// The figures about a vault's records: who writes them has the keys.
  static let manifest = Target.reader(
    "manifest", longest: 4096,
    seeds: {
      let keys = try Vaults.manifestKeys()
      var manifest = Manifest()
      let empty = try manifest.bytes(keys)
      try manifest.add(Array(Sample.text.utf8), Sample.noName, keys)
      manifest.addRemoval(
        try RecordShare(ofRemoval: 7, Sample.noName, keys), Sample.noName)
      return try [empty, manifest.bytes(keys)].map { try Vaults.figures($0, keys) }
    },
    read: { input in
      let keys = try Vaults.manifestKeys()
      return try Manifest(reading: Vaults.sealed(input, keys), keys)
    },
    write: { manifest in
      let keys = try Vaults.manifestKeys()
      return try Vaults.figures(manifest.bytes(keys), keys)
    })

  /// The file of a vault.
  ///
  /// Of every input all is read through one connection: the definitions, the rows, what
  /// verification and a repair read. One in 32 is opened as a vault, read, verified, and written
  /// to.
  static let vault = Target(
    name: "vault", longest: 32_768,
    seeds: {
      try [0, 1, 20].map { count in
        let vaults = try Vaults()
        try PrivateFolder.fill(vaults.storage(), count)
        return try PrivateFolder.read(vaults.path)
      }
    },
    make: {
      let vaults = try Vaults()
      return { input in
        try vaults.read(input)
        if isPicked(input, oneIn: 32) { try vaults.use(input) }
      }
    })
}

private final class Vaults {
  private(set) var path: String
  private let folder: String
  private var count = 0
  /// A file that is written over, and read while nobody else writes.
  private let rows: VaultFile
  private let engine: VaultEngine
  private let descriptor: Int32
  /// The last header and its storage: most inputs have that of a seed, which takes long to open.
  private var last: (header: [UInt8], storage: DelegatedStorage)?

  init() throws {
    let base = try PrivateFolder.path("XDG_DATA_HOME") + "/" + UUID().uuidString
    folder = base + "/vault"
    path = folder + "/a.vault"
    for path in [base, folder] {
      guard unsafe mkdir(path, 0o700) == 0 else { finding("mkdir: \(errno)") }
    }
    rows = try VaultFile(base + "/rows")
    engine = VaultEngine(rows, isReadOnly: true)
    descriptor = unsafe open(rows.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { finding("open: \(errno)") }
  }

  func storage(_ access: StoreAccess = .readWrite) -> VaultStorage {
    VaultStorage(at: URL(fileURLWithPath: path), keySource: .key(Sample.key), access: access)
  }

  // MARK: - Through one connection

  func read(_ input: [UInt8]) throws {
    guard ftruncate(descriptor, 0) == 0,
      unsafe pwrite(descriptor, input, input.count, 0) == input.count
    else { finding("write: \(errno)") }
    let connection = try taking {
      let connection = try Connection(rows.path, .immutable, until: .now)
      try VaultSchema.check(connection)
      return connection
    }
    guard let connection else { return }
    try connection.reading { () throws(StorageError) in
      do { try self.read(connection) } catch { finding("\(error)") }
    }
  }

  private func read(_ connection: Connection) throws {
    _ = try taking { try VaultRows.stamps(connection) }
    _ = try taking { try VaultRows.distinctNames(connection) }
    _ = try taking { try VaultRows.changes(since: 0, withRecords: true, connection) }
    let header = try taking { try VaultRows.header(connection) } ?? nil
    guard let header else { return }
    let store = store(of: header)
    guard let inspector = try taking({ try store.inspector() }) ?? nil,
      let keys = inspector.manifestKeys
    else { return }
    var verification = try VaultVerification(inspector, expecting: ["key 0"])
    _ = try taking { try verification.run(connection, keys, latest: .init()) }
    let opener = try RecordOpener(of: store, in: engine, until: .now)
    var salvage = VaultSalvage(connection, opener)
    _ = try taking { try salvage.run { _, _ in } }
    _ = try taking { try salvage.compare() }
  }

  private func store(of header: [UInt8]) -> SealedStore {
    if let last, last.header == header { return last.storage.store }
    let delegate = RawDelegate()
    delegate.bytes = header
    let storage = DelegatedStorage(delegate, keySource: .key(Sample.key))
    last = (header, storage)
    return storage.store
  }

  // MARK: - As a vault

  func use(_ input: [UInt8]) throws {
    for name in ["", "-wal", "-shm", "-journal", "-notice"] { unsafe unlink(path + name) }
    // Under a new name: where this process has seen a later commit, it reads no further.
    count += 1
    path = folder + "/\(count).vault"
    try PrivateFolder.write(input, to: path)
    // A file that nobody may write to is read in another way.
    _ = try PrivateFolder.use(storage(.readOnly))
    guard try PrivateFolder.read(path) == input else { finding("to read a vault changed it") }
    let vault = storage()
    _ = try taking { try vault.verify() }
    _ = try PrivateFolder.use(vault)
  }

  // MARK: - The manifest

  static func manifestKeys() throws -> ManifestKeys {
    try manifestKeysOfSample.get()
  }

  private static let manifestKeysOfSample = Result {
    ManifestKeys(
      records: try KeyedHash(Sample.key), removals: try KeyedHash(Sample.root),
      manifest: try SealingKey(Sample.root))
  }

  private static let version: [UInt8] = [Manifest.version]

  /// A manifest of figures that the fuzzer made.
  static func sealed(_ figures: [UInt8], _ keys: ManifestKeys) throws -> [UInt8] {
    var sealed = [UInt8](repeating: 0, count: figures.count + SealingKey.overhead)
    let version = version
    try unsafe sealed.withUnsafeMutableBytes { buffer in
      var span = unsafe MutableRawSpan(_unsafeBytes: buffer)
      try unsafe keys.manifest.seal(
        figures.span.bytes, authenticating: version.span.bytes, into: &span)
    }
    return version + sealed
  }

  /// The figures of a manifest.
  static func figures(_ manifest: [UInt8], _ keys: ManifestKeys) throws -> [UInt8] {
    let sealed = Array(manifest.dropFirst())
    var figures = [UInt8](repeating: 0, count: sealed.count - SealingKey.overhead)
    let version = version
    try unsafe figures.withUnsafeMutableBytes { buffer in
      var span = unsafe MutableRawSpan(_unsafeBytes: buffer)
      try unsafe keys.manifest.open(
        sealed.span.bytes, authenticating: version.span.bytes, into: &span)
    }
    return figures
  }
}
