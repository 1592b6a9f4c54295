package import CryptoCore
internal import Glibc

/// An open file descriptor, closed when it goes out of scope.
package struct OpenFile: ~Copyable {
  /// The descriptor; this value owns it and closes it.
  package let descriptor: Int32
  /// The path with which the file was opened, for errors.
  package let path: String

  /// Takes over a descriptor.
  init(owning descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  /// Opens a file, close-on-exec.
  ///
  /// - Returns: nil when the file does not exist and `flags` don't create it.
  package init?(
    _ path: String, _ flags: Int32, permissions: UInt32 = 0o600
  ) throws(StorageError) {
    try self.init(path, at: AT_FDCWD, path: path, flags, permissions)
  }

  /// Opens a file in an open folder, close-on-exec and without following a link.
  ///
  /// - Returns: nil when the file does not exist and `flags` don't create it.
  package init?(
    _ name: String, in folder: FolderDescriptor, _ flags: Int32, permissions: UInt32 = 0o600
  ) throws(StorageError) {
    try self.init(
      name, at: folder.descriptor, path: folder.path(of: name), flags | O_NOFOLLOW, permissions)
  }

  private init?(
    _ name: String, at folder: Int32, path: String, _ flags: Int32, _ permissions: UInt32
  ) throws(StorageError) {
    // Whether this process may make a file matters only for a file that does not exist.
    var descriptor: Int32 = -1
    if flags & O_CREAT != 0, Folder.isPrivileged {
      if flags & O_EXCL == 0 {
        descriptor = Self.open(name, at: folder, flags & ~O_CREAT, permissions)
      }
      if descriptor < 0 { try Folder.requireMaking(path, at: folder) }
    }
    if descriptor < 0 { descriptor = Self.open(name, at: folder, flags, permissions) }
    if descriptor < 0 {
      if errno == ENOENT && flags & O_CREAT == 0 { return nil }
      let isOpening = flags & O_EXCL == 0
      throw StorageError(
        system: (isOpening ? "open the " : "create the ")
          + (flags & O_DIRECTORY == 0 ? "file" : "folder"), path: path, isOpening: isOpening)
    }
    self.init(owning: descriptor, path: path)
  }

  /// Calls openat(2).
  private static func open(
    _ name: String, at folder: Int32, _ flags: Int32, _ permissions: UInt32
  ) -> Int32 {
    while true {
      let descriptor = unsafe openat(folder, name, flags | O_CLOEXEC, permissions)
      if descriptor >= 0 || errno != EINTR { return descriptor }
    }
  }

  deinit { close(descriptor) }

  /// The result of fstat(2).
  package func status() throws(StorageError) -> FileStatus {
    try .of(descriptor: descriptor, path: path)
  }

  /// All bytes from the start; at most `limit`.
  package func readAll(limit: Int) throws(StorageError) -> [UInt8] {
    let size = try status().size
    guard size <= limit else {
      throw StorageError(
        .damaged,
        "the file has \(size) bytes, but at most \(limit) are expected; restore the file "
          + "from a backup", path: path)
    }
    return try read(from: 0, size)
  }

  /// All bytes from the start, read directly into secure memory; at most `limit`.
  package func readSecret(limit: Int) throws(StorageError) -> SecureBytes {
    let size = try status().size
    guard size <= limit else {
      throw StorageError(
        .damaged,
        "the file has \(size) bytes, but a key file has at most \(limit); put the key "
          + "back", path: path)
    }
    var failure: StorageError?
    var count = 0
    let bytes = try cryptography { () throws(CryptoError) in
      try SecureBytes(count: size) { (span) throws(CryptoError) in
        do throws(StorageError) { count = try read(into: &span) } catch { failure = error }
      }
    }
    if let failure { throw failure }
    guard count == size else {
      throw StorageError(.busy, "the file changed while it was read; try again", path: path)
    }
    return bytes
  }

  /// The first bytes of the file, or all bytes of a shorter file.
  package func readFirst(_ count: Int) throws(StorageError) -> [UInt8] {
    try read(from: 0, min(count, try status().size))
  }

  /// The last bytes of the file, or all bytes of a shorter file.
  package func readLast(_ count: Int) throws(StorageError) -> [UInt8] {
    let size = try status().size
    return try read(from: max(size - count, 0), min(count, size))
  }

  private func read(from start: Int, _ count: Int) throws(StorageError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    var raw = unsafe span.mutableBytes
    guard try read(into: &raw, from: start) == count else {
      throw StorageError(.busy, "the file changed while it was read; try again", path: path)
    }
    return bytes
  }

  /// Fills `span` from an offset in the file, and returns how many bytes were read; fewer only at
  /// the end.
  package func fill(
    _ span: inout MutableRawSpan, from start: Int
  ) throws(StorageError) -> Int {
    try read(into: &span, from: start)
  }

  /// Fills `span` from an offset in the file, and returns how many bytes were read.
  private func read(
    into span: inout MutableRawSpan, from start: Int = 0
  ) throws(StorageError) -> Int {
    var done = 0
    let count = span.byteCount
    while done < count {
      let result = unsafe span.withUnsafeMutableBytes { buffer in
        unsafe pread(descriptor, buffer.baseAddress! + done, count - done, off_t(start + done))
      }
      if result < 0 && errno == EINTR { continue }
      guard result >= 0 else { throw StorageError(system: "read the file", path: path) }
      if result == 0 { break }
      done += result
    }
    return done
  }

  /// Writes all of `bytes` at the current position.
  package func write(_ bytes: RawSpan) throws(StorageError) {
    var done = 0
    while done < bytes.byteCount {
      let result = unsafe bytes.withUnsafeBytes { buffer in
        FileSizeLimit.withoutSignal {
          unsafe Glibc.write(descriptor, buffer.baseAddress! + done, buffer.count - done)
        }
      }
      if result < 0 && errno == EINTR { continue }
      guard result >= 0 else { throw StorageError(system: "write the file", path: path) }
      done += result
    }
  }

  /// Makes the written bytes durable.
  ///
  /// fsync(2): after a failure the state of the pages is unknown.
  package func synchronize() throws(StorageError) {
    guard fsync(descriptor) != 0 else { return }
    let error = StorageError(system: "make the file durable", path: path)
    guard error.code == .io else { throw error }
    throw StorageError(
      .outcomeUnknown, error.message + "; read the value again before you rely on it", path: path,
      number: error.number)
  }
}
