internal import CryptoCore
internal import Glibc

internal import struct FoundationEssentials.URL

/// A file that holds one key or passphrase.
struct KeyFile: Sendable {
  /// The largest size in bytes: a key is one short line, but a passphrase may be longer.
  private static let limit = 4096

  /// The absolute path, or nil when the URL has no absolute file path.
  let path: String?

  init(_ url: URL) {
    path = url.isFileURL && url.path.hasPrefix("/") ? url.path : nil
  }

  /// The file at an absolute path.
  init(path: String) { self.path = path }

  /// Reads the material; nil when the file does not exist.
  func read() throws(StorageError) -> KeyMaterial? {
    let path = try requirePath()
    // No links: a link could lead into a folder that isn't private, and that folder is not checked.
    return try Self.read(path, O_NOFOLLOW) { (status) throws(StorageError) in
      guard status.owner == geteuid() || status.owner == 0 else {
        throw StorageError(
          .denied, "another user owns the key file: \(StorageError.ownerAdvice)", path: path)
      }
      guard status.permissions & 0o077 == 0 else {
        throw StorageError(
          .denied,
          "other users have access to the key file; run chmod 600 on it, and replace the key if "
            + "another user may have read it", path: path)
      }
      try Folder.requirePrivateWay(FilePath.folder(of: path))
    }
  }

  /// Leaves the marker of a file that has none, before something is sealed with its key.
  func keep() throws(StorageError) {
    let path = try requirePath()
    guard try FileStatus.ofEntry(path) != nil else { return }  // removed since the file was read
    MadeMarker(of: path).leaveIfPossible()
  }

  /// Makes the file with a fresh key, or reads a file that another process made just before.
  ///
  /// - Throws: `keyUnavailable` when the marker shows that the file existed and the file is gone.
  func make() throws(StorageError) -> KeyMaterial {
    let path = try requirePath()
    try FilePath.requireRoom(at: path, for: ".made")
    for suffix in FilePath.companionSuffixes where path.hasSuffix(suffix) {
      throw StorageError(
        .invalid,
        "a key file can't have a name that ends in \(suffix), because files beside vaults have such "
          + "names and would replace it; choose another name", path: path)
    }
    try Folder.requirePrivateWay(FilePath.folder(of: path), isMaking: true)
    let marker = MadeMarker(of: path)
    if try marker.isThere() {
      // The marker is made after the file, so a file that another process is making exists by now.
      guard let material = try read() else { throw Self.gone(path, marker) }
      return material
    }
    let key = try cryptography { () throws(CryptoError) in try SymmetricKey.random() }
    let text = try KeyEncoding.encode(key)
    let isMade = try text.withBytes { (span) throws(StorageError) in
      try DurableFile.createIfAbsent(path, with: span)
    }
    let material = try isMade ? .key(key) : read()
    guard let material else {
      throw StorageError(
        .busy, "another process removed the key file just after making it; try again", path: path)
    }
    try marker.leave()
    return material
  }

  private static func gone(_ path: String, _ marker: MadeMarker) -> StorageError {
    StorageError(
      .keyUnavailable,
      "the key file is gone. No new key was made, because data sealed with the old key would not open "
        + "with a new one. Put the key file back from a backup. If it is lost for good, start "
        + "anew with discard() of each store that it opened; only where that does not help, remove "
        + "\(marker.path)", path: path)
  }

  /// Reads a systemd credential; systemd controls who can read the file.
  static func read(credential path: String) throws(StorageError) -> KeyMaterial? {
    try read(path, 0) { (_) throws(StorageError) in }
  }

  /// Reads a file that was mounted for this process; whoever mounted it controls who can read it.
  ///
  /// Links are followed, because a Kubernetes secret consists of links.
  static func read(mounted path: String) throws(StorageError) -> KeyMaterial? {
    guard path.hasPrefix("/"), !path.utf8.contains(0) else {
      throw StorageError(
        .invalid, "a mounted secret must be given by an absolute path", path: path)
    }
    do throws(StorageError) {
      return try read(path, 0) { (_) throws(StorageError) in }
    } catch {
      // The advice for a file of the user's own would not help here.
      switch error.number.map({ Int32(truncatingIfNeeded: $0) }) {
      case EACCES, EPERM:
        throw StorageError(
          .denied,
          "this user can't read the mounted secret; mount it with an owner, a group or a mode that lets "
            + "this user read it", path: path, number: error.number)
      case ELOOP:
        throw StorageError(
          .denied, "the symbolic links of the mounted secret form a loop; mount it again",
          path: path,
          number: error.number)
      default: throw error
      }
    }
  }

  private static func read(
    _ path: String, _ flags: Int32, check: (FileStatus) throws(StorageError) -> Void
  ) throws(StorageError) -> KeyMaterial? {
    // O_NONBLOCK: opening a FIFO at this path must not block.
    let flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | flags
    guard let file = try OpenFile(path, flags) else { return nil }
    let status = try file.status()
    guard status.isRegular else {
      throw StorageError(
        .denied, "the key file is not a regular file; give the path of a regular file",
        path: path)
    }
    try check(status)
    return try KeyEncoding.material(
      of: file.readSecret(limit: limit), path: path, source: "the key file")
  }

  private func requirePath() throws(StorageError) -> String {
    guard let path else {
      throw StorageError(.invalid, "the URL of a key file must be a file URL with an absolute path")
    }
    return path
  }
}
