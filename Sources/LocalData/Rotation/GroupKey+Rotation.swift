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
    try check(of: key, "SPS LocalData group check v1")
  }
}

/// The form of `.group.rotation`: a sealed value under the present key, with the former key and its
/// list; docs/localdata.md describes it.
private struct RotationFile {
  private let present: SecureBytes
  private let sealer = ValueSealer(
    ValueSealer.Sealing(
      pattern: Envelope.Sealing(
        origin: .masterKey, algorithm: .aes256GCM, function: .hkdfSHA256, rounds: 0, salt: [],
        info: [], source: ""), hasRandomSalt: true),
    .data, binding: ValueBinding(["group rotation"], ""))

  /// Of a group's present key.
  init(_ present: SecureBytes) { self.present = present }

  func bytes(of former: FormerKey) throws(StorageError) -> [UInt8] {
    let list = try former.manifest.json()
    return try former.key.withData { (key) throws(StorageError) in
      var content = key + list
      defer { Wipe.data(&content) }
      return Array(try sealer.seal(content, present))
    }
  }

  /// The former key and its list; nil if the file was not written under the present key.
  func open(_ bytes: [UInt8], below root: String) throws(StorageError) -> FormerKey? {
    var content: Data
    do throws(StorageError) {
      let envelope = try Envelope(reading: Data(bytes))
      // Another function could take long.
      guard envelope.sealing?.function == .hkdfSHA256 else { return nil }
      content = try sealer.open(envelope, [present])
    } catch {
      // Left by a rotation that died before it replaced the key, or put there by somebody else.
      return nil
    }
    defer { Wipe.data(&content) }
    guard content.count >= 32 else { return nil }
    let key = try cryptography { () throws(CryptoError) in
      try SecureBytes(copying: content.prefix(32).bytes)
    }
    let list = try RotationManifest(reading: Data(content.dropFirst(32)), root: root)
    return FormerKey(key: key, manifest: list)
  }
}
