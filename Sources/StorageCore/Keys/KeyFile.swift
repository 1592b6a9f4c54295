internal import CryptoCore
internal import Glibc

internal import struct Foundation.URL

/// A file that holds one key or passphrase.
struct KeyFile: Sendable {
  /// A key file is a line; a passphrase may be longer.
  private static let limit = 4096

  /// The absolute path, or nil when the URL gives none.
  let path: String?

  init(_ url: URL) {
    path = url.isFileURL && url.path.hasPrefix("/") ? url.path : nil
  }

  /// The file at an absolute path.
  init(path: String) { self.path = path }

  /// The material of the file, or nil when there is no file.
  func read() throws(StorageError) -> KeyMaterial? {
    let path = try requirePath()
    // A link could lead into a folder that isn't private, which is not looked at.
    let material = try Self.read(path, O_NOFOLLOW) { (status) throws(StorageError) in
      guard status.owner == geteuid() || status.owner == 0 else {
        throw StorageError(
          .denied, "the key file belongs to another user: \(StorageError.ownerAdvice)", path: path)
      }
      guard status.permissions & 0o077 == 0 else {
        throw StorageError(
          .denied,
          "others can read the key file; chmod 600 it, and replace the key if somebody may have "
            + "read it", path: path)
      }
      try Folder.requirePrivate(FilePath.folder(of: path))
    }
    // Before the key is used: a second name of the file would outlive it.
    if material != nil { LeftOvers.remove(of: path) }
    return material
  }

  /// Marks a file that came without a marker, before something is sealed under its key.
  func keep() throws(StorageError) {
    let path = try requirePath()
    guard try FileStatus.ofEntry(path) != nil else { return }  // gone since it was read
    MadeMarker(of: path).leaveIfPossible()
  }

  /// Makes the file with a fresh key, or reads the one that another process made just before.
  ///
  /// - Throws: `keyUnavailable` when there was a file once and it is gone.
  func make() throws(StorageError) -> KeyMaterial {
    let path = try requirePath()
    try Folder.create(FilePath.folder(of: path))
    try Folder.requirePrivate(FilePath.folder(of: path))
    let marker = MadeMarker(of: path)
    if try marker.isThere() {
      // The marker comes after the file: one that another process is making just now is there.
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
      throw StorageError(.busy, "the key file came and went; try again", path: path)
    }
    if isMade { LeftOvers.remove(of: path) }
    try marker.leave()
    return material
  }

  private static func gone(_ path: String, _ marker: MadeMarker) -> StorageError {
    StorageError(
      .keyUnavailable,
      "the key file is gone. No new key was made, since it would not open what is sealed already. "
        + "Put the key file back from a backup. Only if you no longer need anything that was sealed "
        + "under it, remove \(marker.path)", path: path)
  }

  /// The material of a systemd credential, whose access systemd rules.
  static func read(credential path: String) throws(StorageError) -> KeyMaterial? {
    try read(path, 0) { (_) throws(StorageError) in }
  }

  /// The material of a file that was mounted for this process: whoever mounted it rules who reads it.
  ///
  /// Links are followed, as those of a Kubernetes secret have to be.
  static func read(mounted path: String) throws(StorageError) -> KeyMaterial? {
    guard path.hasPrefix("/"), !path.utf8.contains(0) else {
      throw StorageError(.invalid, "a mounted secret is given by an absolute path", path: path)
    }
    do throws(StorageError) {
      return try read(path, 0) { (_) throws(StorageError) in }
    } catch {
      // What is said of a file of our own would not help.
      switch error.number.map({ Int32(truncatingIfNeeded: $0) }) {
      case EACCES, EPERM:
        throw StorageError(
          .denied,
          "this user can't read the mounted secret: have it mounted with an owner, a group or a mode that "
            + "lets it", path: path, number: error.number)
      case ELOOP:
        throw StorageError(
          .denied, "the links of the mounted secret form a circle", path: path,
          number: error.number)
      default: throw error
      }
    }
  }

  private static func read(
    _ path: String, _ flags: Int32, check: (FileStatus) throws(StorageError) -> Void
  ) throws(StorageError) -> KeyMaterial? {
    // O_NONBLOCK: a FIFO in its place must not make us wait.
    let flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | flags
    guard let file = try OpenFile(path, flags) else { return nil }
    let status = try file.status()
    guard status.isRegular else {
      throw StorageError(.denied, "the key file is not a regular file", path: path)
    }
    try check(status)
    return try KeyEncoding.material(
      of: file.readSecret(limit: limit), path: path, source: "the key file")
  }

  private func requirePath() throws(StorageError) -> String {
    guard let path else {
      throw StorageError(.invalid, "a key file is given by a file URL with an absolute path")
    }
    return path
  }
}
