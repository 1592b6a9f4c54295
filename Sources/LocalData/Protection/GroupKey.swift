internal import CryptoCore
internal import FoundationEssentials
internal import StorageCore

/// The key of a group: the file `.group.key` in its folder, which the group's programs share.
///
/// The file holds Base64 of 32 bytes and a line feed, and has the same mode as the group's other
/// files. It is created once; if it is lost, the marker `.group.key.made` beside it prevents a new
/// key.
struct GroupKey: Sendable {
  let folder: SharedFolder
  /// This program's ledger, which has the check values of keys that a rotation dropped.
  let ledger: Ledger
  static let file = ".group.key"
  static let marker = ".group.key.made"

  /// The key; created if none was ever created and `isWriting`.
  ///
  /// - Returns: nil if no key was ever created, so nothing can be sealed under it.
  /// - Throws: `keyUnavailable` if the key is lost, `damaged` if the file does not hold a key.
  func material(isWriting: Bool) throws(StorageError) -> SecureBytes? {
    guard let key = try find(isWriting: isWriting) else { return nil }
    guard try !ledger.droppedGroupKeys(folder.path).contains(try Self.check(of: key)) else {
      throw StorageError(
        .wrongKey,
        "somebody put an old key of the group back, which was replaced; restore the present key from a "
          + "backup", path: folder.path + "/" + Self.file)
    }
    return key
  }

  private func find(isWriting: Bool) throws(StorageError) -> SecureBytes? {
    if let key = try read() {
      // Its creator may have died before writing the marker.
      if isWriting, try !folder.contains(Self.marker) { try leaveMarker() }
      return key
    }
    guard isWriting else {
      guard try folder.contains(Self.marker) else { return nil }
      // The key file is written before its marker.
      if let key = try read() { return key }
      throw gone
    }
    try folder.locked { (locked) throws(StorageError) in
      guard try !locked.contains(Self.file) else { return }
      guard try !locked.contains(Self.marker) else { throw gone }
      try Self.write(try Self.random(), locked)
    }
    try leaveMarker()
    guard let key = try read() else { throw gone }
    return key
  }

  static func random() throws(StorageError) -> SecureBytes {
    try cryptography { () throws(CryptoError) in try SecureBytes.random(count: 32) }
  }

  static func write(
    _ key: SecureBytes, _ locked: borrowing LockedFolder
  ) throws(StorageError) {
    var text = Array(Data(key.withBytes { $0.copied() }).base64EncodedString().utf8) + [10]
    defer { Wipe.bytes(&text) }
    try locked.write(text, to: Self.file)
  }

  private func leaveMarker() throws(StorageError) {
    try folder.locked { (locked) throws(StorageError) in
      if try !locked.contains(Self.marker) { try locked.write([], to: Self.marker) }
    }
  }

  private func read() throws(StorageError) -> SecureBytes? {
    guard var bytes = try folder.read(Self.file) else { return nil }
    defer { Wipe.bytes(&bytes) }
    guard bytes.count == 45, bytes.last == 10,
      var key = Data(base64Encoded: Data(bytes.dropLast())), key.count == 32
    else {
      throw StorageError(
        .damaged, "the file does not hold a group's key; restore it from a backup",
        path: folder.path + "/" + Self.file)
    }
    defer { Wipe.data(&key) }
    return try cryptography { () throws(CryptoError) in try SecureBytes(copying: key.bytes) }
  }

  private var gone: StorageError {
    StorageError(
      .keyUnavailable,
      "the group's key is lost, and no new key is created, since values are sealed under it. Restore "
        + "it from a backup; or, only if you need none of these values, remove \(Self.marker)",
      path: folder.path + "/" + Self.file)
  }
}
