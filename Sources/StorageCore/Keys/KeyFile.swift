internal import CryptoCore
internal import Glibc

internal import struct Foundation.URL

/// A file that holds one key or passphrase.
struct KeyFile: Sendable {
  /// A key file is a line; a passphrase may be longer.
  private static let limit = 4096

  private let path: String?

  init(_ url: URL) {
    path = url.isFileURL && url.path.hasPrefix("/") ? url.path : nil
  }

  /// The material of the file, or nil when there is no file.
  func read() throws(StorageError) -> KeyMaterial? {
    let path = try requirePath()
    // A link could lead into a folder that isn't private, which is not looked at.
    return try Self.read(path, O_NOFOLLOW) { (status) throws(StorageError) in
      guard status.owner == geteuid() || status.owner == 0 else {
        throw StorageError(.denied, "the key file belongs to another user", path: path)
      }
      guard status.permissions & 0o077 == 0 else {
        throw StorageError(
          .denied,
          "others can read the key file; chmod 600 it, and replace the key if somebody may have "
            + "read it", path: path)
      }
      try Folder.requirePrivate(FilePath.folder(of: path))
    }
  }

  /// Makes the file with a fresh key, or reads the one that another process made just before.
  func make() throws(StorageError) -> KeyMaterial {
    let path = try requirePath()
    try Folder.create(FilePath.folder(of: path))
    try Folder.requirePrivate(FilePath.folder(of: path))
    let key = try cryptography { () throws(CryptoError) in try SymmetricKey.random() }
    let text = try KeyEncoding.encode(key)
    let isMade = try text.withBytes { (span) throws(StorageError) in
      try DurableFile.createIfAbsent(path, with: span)
    }
    if isMade { return .key(key) }
    guard let material = try read() else {
      throw StorageError(.busy, "the key file came and went; try again", path: path)
    }
    return material
  }

  /// The material of a systemd credential, whose access systemd rules.
  static func read(credential path: String) throws(StorageError) -> KeyMaterial? {
    try read(path, 0) { (_) throws(StorageError) in }
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
