internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.Data

/// The key from which the keys of encrypted values are derived: in the keychain, created once.
///
/// The ledger has its check value, which decides which key is the present one. While a rotation
/// seals values again, the keychain holds two keys: the old one in its place, the new one in
/// `pendingKey`.
final class MasterKey: Sendable {
  /// The record of the key in the keychain.
  let place: any ValuePlace
  /// The record of a new key, until the old one is dropped.
  let pendingKey: any ValuePlace
  /// The name of the key in the ledger: the place, the service and the account.
  let id: String
  let length: Int
  let ledger: Ledger
  let lock: KeyLock?

  private struct Known {
    let key: SecureBytes
    let check: [UInt8]
    var generation: KeyLock.Generation?
  }
  /// The key, after it was read and recorded; nil before.
  private let known = Lock<Known?>(nil)

  init(
    place: any ValuePlace, pendingKey: any ValuePlace, id: String, length: Int, ledger: Ledger,
    lock: KeyLock?
  ) {
    self.place = place
    self.pendingKey = pendingKey
    self.id = id
    self.length = length
    self.ledger = ledger
    self.lock = lock
  }

  private func find(_ made: [UInt8]?, isWriting: Bool) throws(StorageError) -> SecureBytes? {
    let found = try read(place)
    guard let made else {
      // A rotation that goes on has recorded its keys, so the ledger was lost since.
      guard try !pendingKey.contains() else {
        throw StorageError(
          .keyUnavailable,
          "the ledger \(Ledger.file) was lost during a rotation, so it is unknown which master key is the "
            + "present one; restore the ledger from a backup")
      }
      guard let found else { return isWriting ? try make() : nil }
      // Its creator died before recording it.
      guard isWriting else { return found.key }
      try ledger.record(found.check, ofMasterKey: id)
      return keep(found)
    }
    if let found, found.check == made { return keep(found) }
    if let new = try read(pendingKey), new.check == made { return keep(new) }
    guard found != nil else {
      throw StorageError(
        .keyUnavailable,
        "the master key \(id) is lost, and no new key is created, since values are sealed under it. "
          + "Restore it from a backup")
    }
    throw StorageError(
      .wrongKey,
      "the master key \(id) is not the one that values are sealed under; restore the right one "
        + "from a backup")
  }

  private func keep(_ found: Known) -> SecureBytes {
    known.withLock { $0 = found }
    return found.key
  }

  private func make() throws(StorageError) -> SecureBytes {
    let new = try random()
    // If several processes create a key, all use the first one.
    try new.withData { (data) throws(StorageError) in _ = try place.replace(nil, by: data) }
    guard let found = try read(place) else {
      throw StorageError(.busy, "the master key was removed while it was created; try again")
    }
    try ledger.record(found.check, ofMasterKey: id)
    return keep(found)
  }

  private func random() throws(StorageError) -> SecureBytes {
    guard length == 32 || length == 64 else {
      throw StorageError(.invalid, "a master key must have 32 or 64 bytes")
    }
    return try cryptography { () throws(CryptoError) in try SecureBytes.random(count: length) }
  }

  private func read(_ place: any ValuePlace) throws(StorageError) -> Known? {
    guard var data = try place.read() else { return nil }
    defer { Wipe.data(&data) }
    guard data.count == 32 || data.count == 64 else {
      throw StorageError(.damaged, "the master key \(id) has an invalid length")
    }
    let key = try cryptography { () throws(CryptoError) in try SecureBytes(copying: data.bytes) }
    return Known(key: key, check: try Self.check(of: key))
  }

  private static func check(of key: SecureBytes) throws(StorageError) -> [UInt8] {
    try check(of: key, "SPS LocalData master check v1")
  }
}

extension MasterKey: RotatedKey {
  var title: String { "master key \(id)" }
  var group: SharedFolder? { nil }

  func material(isWriting: Bool) throws(StorageError) -> SecureBytes? {
    // Another process may have replaced the key. The lock file shows that to readers; a writer asks
    // the ledger, since a process that replaced the key may have died before it touched the file.
    let generation = try lock?.generation()
    let known = known.withLock { $0 }
    if !isWriting, let known, generation != nil, known.generation == generation { return known.key }
    let made = try ledger.check(ofMasterKey: id)
    let found: SecureBytes?
    if let known, known.check == made {
      found = known.key
    } else {
      found = try find(made, isWriting: isWriting)
    }
    self.known.withLock { $0?.generation = generation }
    return found
  }

  func former() throws(StorageError) -> FormerKey? {
    guard let manifest = try ledger.manifest(ofMasterKey: id), let old = try read(place),
      try ledger.check(ofMasterKey: id) != old.check
    else { return nil }
    return FormerKey(key: old.key, manifest: manifest)
  }

  func replace(listing list: () throws(StorageError) -> RotationManifest) throws(StorageError) {
    let new = try random()
    try new.withData { (data) throws(StorageError) in try pendingKey.write(data) }
    try ledger.replace(try Self.check(of: new), try list(), ofMasterKey: id)
    try lock?.renew()
  }

  func dropFormer() throws(StorageError) {
    if let present = try material(isWriting: false) {
      try present.withData { (data) throws(StorageError) in try place.write(data) }
    }
    try lock?.renew()
    try ledger.dropManifest(ofMasterKey: id)
    try pendingKey.remove()
  }
}

extension SecureBytes {
  /// Lends a copy of the bytes, which is wiped afterwards.
  func withData<Result>(
    _ body: (Data) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    var data = Data(withBytes { $0.copied() })
    defer { Wipe.data(&data) }
    return try body(data)
  }
}
