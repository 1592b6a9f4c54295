internal import CryptoCore
internal import Foundation
internal import StorageCore

/// The key of a group: a file in its folder, `.group.key`, that its programs share.
///
/// Base64 of 32 bytes and a line feed, readable as the group's other files are. It is made once; a
/// marker beside it, `.group.key.made`, keeps another one from being made when it is gone.
struct GroupKey: Sendable {
  let folder: SharedFolder
  static let file = ".group.key"
  static let marker = ".group.key.made"

  /// The key; made, if none was ever made and `isWriting`.
  ///
  /// - Returns: nil when there is none and nothing can be under it.
  /// - Throws: `keyUnavailable` when it is gone, `damaged` when it is no key.
  func material(isWriting: Bool) throws(StorageError) -> SecureBytes? {
    if let key = try read() {
      // Who made it may have died before its marker was there.
      if isWriting, try !folder.contains(Self.marker) { try leaveMarker() }
      return key
    }
    guard isWriting else {
      guard try folder.contains(Self.marker) else { return nil }
      // It comes before its marker.
      if let key = try read() { return key }
      throw gone
    }
    try folder.locked { (locked) throws(StorageError) in
      guard try !folder.contains(Self.file) else { return }
      guard try !folder.contains(Self.marker) else { throw gone }
      let key = try cryptography { () throws(CryptoError) in try SecureBytes.random(count: 32) }
      var text = Array(Data(key.withBytes { $0.copied() }).base64EncodedString().utf8) + [10]
      defer { Wipe.bytes(&text) }
      try locked.write(text, to: Self.file)
    }
    try leaveMarker()
    guard let key = try read() else { throw gone }
    return key
  }

  private func leaveMarker() throws(StorageError) {
    try folder.locked { (locked) throws(StorageError) in
      if try !folder.contains(Self.marker) { try locked.write([], to: Self.marker) }
    }
  }

  private func read() throws(StorageError) -> SecureBytes? {
    guard var bytes = try folder.read(Self.file) else { return nil }
    defer { Wipe.bytes(&bytes) }
    guard bytes.count == 45, bytes.last == 10,
      var key = Data(base64Encoded: Data(bytes.dropLast())), key.count == 32
    else {
      throw StorageError(
        .damaged, "it is no group's key; put it back from a backup",
        path: folder.path + "/" + Self.file)
    }
    defer { Wipe.data(&key) }
    return try cryptography { () throws(CryptoError) in try SecureBytes(copying: key.bytes) }
  }

  private var gone: StorageError {
    StorageError(
      .keyUnavailable,
      "the group's key is gone, and no other one is made in its place: values are sealed under it. Put "
        + "it back from a backup; or, only if none of them matters any more, remove \(Self.marker)",
      path: folder.path + "/" + Self.file)
  }
}
