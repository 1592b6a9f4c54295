internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.Data

/// While a group's values are sealed again, the file `.group.rotation` has the former key and the
/// list of its values, sealed under the present key. So only somebody with the present key can have
/// written it.
extension GroupKey: RotatedKey {
  static let rotation = ".group.rotation"

  var title: String { "group key \(folder.path)" }
  var group: SharedFolder? { folder }
  var lock: KeyLock? { KeyLock(ofGroup: folder) }

  func former() throws(StorageError) -> FormerKey? {
    guard let key = try material(isWriting: false), let bytes = try folder.read(Self.rotation)
    else { return nil }
    return try RotationFile(key).open(bytes, below: folder.path)
  }

  func replace(listing list: () throws(StorageError) -> RotationManifest) throws(StorageError) {
    guard let old = try material(isWriting: false) else { return }
    let new = try Self.random()
    let file = try RotationFile(new).bytes(of: FormerKey(key: old, manifest: try list()))
    try folder.locked { (locked) throws(StorageError) in
      // Until the key is in place, nobody can open the list, and it has no effect.
      try locked.write(file, to: Self.rotation)
      try Self.write(new, locked)
    }
    // From now on, this program refuses the old key, even if somebody puts it back before the end.
    try noteFormer(old)
  }

  func dropFormer() throws(StorageError) {
    // The program that replaced the key may have died before noting it.
    if let former = try former() { try noteFormer(former.key) }
    try folder.locked { (locked) throws(StorageError) in try locked.remove(Self.rotation) }
  }

  private func noteFormer(_ key: SecureBytes) throws(StorageError) {
    try ledger.recordDropped(try Self.check(of: key), ofGroup: folder.path)
  }

  /// Identifies a key of a group.
  static func check(of key: SecureBytes) throws(StorageError) -> [UInt8] {
    try cryptography { () throws(CryptoError) in
      try KeyDerivation.hkdf(
        key, salt: [], info: Array("SPS LocalData group check v1".utf8), count: 16, hash: .sha256)
    }.withBytes { $0.copied() }
  }
}

/// The form of `.group.rotation`; docs/localdata.md describes it.
private struct RotationFile {
  private static let head: [UInt8] = Array("SPGR".utf8) + [1]
  private static let store = StoreID(Array("SPS LocalData v1".utf8))!
  private static let name = NameHash([UInt8](repeating: 0, count: NameHash.byteCount))!
  private static let context = RecordContext(store: store, name: name, authenticationTag: head)
  private let key: DataKey

  /// Of a group's present key.
  init(_ present: SecureBytes) throws(StorageError) {
    key = try cryptography { () throws(CryptoError) in
      let bytes = try KeyDerivation.hkdf(
        present, salt: [], info: Array("SPS LocalData group rotation v1".utf8),
        count: AEADAlgorithm.keySize, hash: .sha256)
      return try DataKey(SymmetricKey(bytes: bytes), id: 1, algorithm: .aes256GCM)
    }
  }

  func bytes(of former: FormerKey) throws(StorageError) -> [UInt8] {
    let list = try former.manifest.json()
    var content = former.key.withBytes { $0.copied() } + list
    defer { Wipe.bytes(&content) }
    return try cryptography { () throws(CryptoError) in
      Self.head + (try unsafe key.seal(content.span.bytes, for: Self.context))
    }
  }

  /// The former key and its list; nil if the file was not written under the present key.
  func open(_ bytes: [UInt8], below root: String) throws(StorageError) -> FormerKey? {
    guard bytes.starts(with: Self.head) else { return nil }
    var content: [UInt8] = []
    defer { Wipe.bytes(&content) }
    let record = Array(bytes.dropFirst(Self.head.count))
    do throws(CryptoError) {
      try unsafe key.withOpened(record.span.bytes, for: Self.context) { content = $0.copied() }
    } catch {
      // Left by a rotation that died before it replaced the key, or put there by somebody else.
      return nil
    }
    guard content.count >= 32 else { return nil }
    let list = Data(content[32...])
    let former = try cryptography { () throws(CryptoError) in
      try SecureBytes(Array(content[..<32]))
    }
    return FormerKey(key: former, manifest: try RotationManifest(reading: list, root: root))
  }
}
