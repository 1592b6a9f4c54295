internal import CryptoCore
internal import FoundationEssentials
internal import StorageCore

/// A key that seals many values, and that a rotation replaces: the master key, or the key of a
/// group.
protocol SharedKey: Sendable {
  /// Keeps the key from being replaced between sealing and writing; nil for stores in memory.
  var lock: KeyLock? { get }

  /// The present key; created if none was ever created and `isWriting`.
  ///
  /// - Returns: nil if no key was ever created, so nothing can be sealed under it.
  /// - Throws: `keyUnavailable` if the key is lost, `wrongKey` if it is not the recorded one.
  func material(isWriting: Bool) throws(StorageError) -> SecureBytes?

  /// The former key and its list of values while a rotation seals them again; nil otherwise.
  func former() throws(StorageError) -> FormerKey?
}

extension SharedKey {
  /// Identifies a key; the label says what kind of key it is.
  static func check(of key: SecureBytes, _ label: String) throws(StorageError) -> [UInt8] {
    try cryptography { () throws(CryptoError) in
      try KeyDerivation.hkdf(
        key, salt: [], info: Array(label.utf8), count: 16, hash: .sha256)
    }.withBytes { $0.copied() }
  }

  /// The keys that may open stored bytes: the present one, and the former one if a running rotation
  /// has listed these bytes.
  func materials(
    opening stored: Data, at address: PlaceAddress
  ) throws(StorageError) -> [SecureBytes] {
    guard let present = try material(isWriting: false) else { return [] }
    guard let former = try former(), try former.manifest.accounts(for: stored, at: address) else {
      return [present]
    }
    return [present, former.key]
  }
}

/// A shared key that a rotation can replace.
protocol RotatedKey: SharedKey {
  /// The name of the key in reports and in the ledger.
  var title: String { get }
  /// The folder of its group, to which the addresses in its list are relative; nil for a master
  /// key.
  var group: SharedFolder? { get }

  /// Makes a new key the present one, and lists the values of the old one in the same atomic step.
  ///
  /// The lock is held. If the process dies before the step, nothing has changed.
  func replace(listing list: () throws(StorageError) -> RotationManifest) throws(StorageError)

  /// Drops the former key and its list.
  func dropFormer() throws(StorageError)
}

/// The key that a rotation replaced, while values are still sealed under it.
struct FormerKey: Sendable {
  let key: SecureBytes
  let manifest: RotationManifest
}
