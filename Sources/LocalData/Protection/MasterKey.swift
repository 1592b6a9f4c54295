internal import CryptoCore
internal import StorageCore

internal import struct Foundation.Data

/// The key that the keys of encrypted values are derived from: in the keychain, made once.
final class MasterKey: Sendable {
  /// Its record in the keychain.
  let place: any ValuePlace
  /// Names it in the ledger: the place, the service and the account.
  let id: String
  let length: Int
  let ledger: Ledger
  /// The key once it was read and recorded, or nil.
  private let known = Lock<SecureBytes?>(nil)

  init(place: any ValuePlace, id: String, length: Int, ledger: Ledger) {
    self.place = place
    self.id = id
    self.length = length
    self.ledger = ledger
  }

  /// The key; made, if none was ever made and `isWriting`.
  ///
  /// - Returns: nil when there is none and nothing can be under it.
  /// - Throws: `keyUnavailable` when it is gone, `wrongKey` when it is another than was made.
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
        // Who made it died before this was recorded.
        guard isWriting else { return key }
        try ledger.record(check, ofMasterKey: id)
        return keep(key)
      }
      guard made == check else {
        throw StorageError(
          .wrongKey,
          "the master key \(id) is another one than values are sealed under; put the right one back "
            + "from a backup")
      }
      return keep(key)
    }
    guard try ledger.check(ofMasterKey: id) == nil else {
      throw StorageError(
        .keyUnavailable,
        "the master key \(id) is gone, and no other one is made in its place: values are sealed under "
          + "it. Put it back from a backup")
    }
    guard isWriting else { return nil }
    return try make()
  }

  private func make() throws(StorageError) -> SecureBytes {
    guard length == 32 || length == 64 else {
      throw StorageError(.invalid, "a master key has 32 or 64 bytes")
    }
    let new = try cryptography { () throws(CryptoError) in try SecureBytes.random(count: length) }
    var data = Data(new.withBytes { $0.copied() })
    defer { Wipe.data(&data) }
    // Whose comes first is everybody's.
    _ = try place.replace(nil, by: data)
    guard let key = try read() else {
      throw StorageError(.busy, "the master key was removed while it was made; try again")
    }
    try ledger.record(Self.check(of: key), ofMasterKey: id)
    return keep(key)
  }

  private func read() throws(StorageError) -> SecureBytes? {
    guard var data = try place.read() else { return nil }
    defer { Wipe.data(&data) }
    guard data.count == 32 || data.count == 64 else {
      throw StorageError(.damaged, "the master key \(id) has an impossible length")
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
