internal import CryptoCore
internal import StorageCore

internal import struct Foundation.Data

/// The key from which the keys of encrypted values are derived: in the keychain, created once.
final class MasterKey: Sendable {
  /// The record of the key in the keychain.
  let place: any ValuePlace
  /// The name of the key in the ledger: the place, the service and the account.
  let id: String
  let length: Int
  let ledger: Ledger
  /// The key, after it was read and recorded; nil before.
  private let known = Lock<SecureBytes?>(nil)

  init(place: any ValuePlace, id: String, length: Int, ledger: Ledger) {
    self.place = place
    self.id = id
    self.length = length
    self.ledger = ledger
  }

  /// The key; created if none was ever created and `isWriting`.
  ///
  /// - Returns: nil if no key was ever created, so nothing can be sealed under it.
  /// - Throws: `keyUnavailable` if the key is lost, `wrongKey` if it differs from the one that was created.
  func material(isWriting: Bool) throws(StorageError) -> SecureBytes? {
    if let key = known.withLock({ $0 }) { return key }
    return try find(isWriting: isWriting)
  }

  private func keep(_ key: SecureBytes) -> SecureBytes {
    known.withLock { $0 = key }
    return key
  }

  private func find(isWriting: Bool) throws(StorageError) -> SecureBytes? {
    if let key = try read() {
      let check = try Self.check(of: key)
      guard let made = try ledger.check(ofMasterKey: id) else {
        // Its creator died before recording it.
        guard isWriting else { return key }
        try ledger.record(check, ofMasterKey: id)
        return keep(key)
      }
      guard made == check else {
        throw StorageError(
          .wrongKey,
          "the master key \(id) is not the one that values are sealed under; restore the right one "
            + "from a backup")
      }
      return keep(key)
    }
    guard try ledger.check(ofMasterKey: id) == nil else {
      throw StorageError(
        .keyUnavailable,
        "the master key \(id) is lost, and no new key is created, since values are sealed under it. "
          + "Restore it from a backup")
    }
    guard isWriting else { return nil }
    return try make()
  }

  private func make() throws(StorageError) -> SecureBytes {
    guard length == 32 || length == 64 else {
      throw StorageError(.invalid, "a master key must have 32 or 64 bytes")
    }
    let new = try cryptography { () throws(CryptoError) in try SecureBytes.random(count: length) }
    var data = Data(new.withBytes { $0.copied() })
    defer { Wipe.data(&data) }
    // If several processes create a key, all use the first one.
    _ = try place.replace(nil, by: data)
    guard let key = try read() else {
      throw StorageError(.busy, "the master key was removed while it was created; try again")
    }
    try ledger.record(Self.check(of: key), ofMasterKey: id)
    return keep(key)
  }

  private func read() throws(StorageError) -> SecureBytes? {
    guard var data = try place.read() else { return nil }
    defer { Wipe.data(&data) }
    guard data.count == 32 || data.count == 64 else {
      throw StorageError(.damaged, "the master key \(id) has an invalid length")
    }
    return try cryptography { () throws(CryptoError) in try SecureBytes(copying: data.bytes) }
  }

  private static func check(of key: SecureBytes) throws(StorageError) -> [UInt8] {
    try cryptography { () throws(CryptoError) in
      try KeyDerivation.hkdf(
        key, salt: [], info: Array("SPS LocalData master check v1".utf8), count: 16, hash: .sha256)
    }.withBytes { $0.copied() }
  }
}
