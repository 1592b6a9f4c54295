internal import FileBackend
internal import Foundation
internal import Glibc
internal import StorageCore

/// Copies values to files and descriptors to values, in constant memory.
enum FileCopy {
  /// Stores the rest of the input.
  ///
  /// - Throws: `Failure`: `malformedInput` for input of no bytes, unless it is allowed; nothing is
  ///   then changed.
  static func store(
    _ descriptor: Int32, in folder: SealedFolder, named name: String, allowingEmpty: Bool,
    _ progress: (Int, Int) -> Void
  ) throws {
    let total = rest(of: descriptor)
    let writer = try folder.writer(named: name)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 64)
    defer {
      unsafe explicit_bzero(buffer.baseAddress!, buffer.count)
      unsafe buffer.deallocate()
    }
    while true {
      let count = unsafe read(descriptor, buffer.baseAddress, buffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else {
        throw Failure(system: "read", path: "standard input", number: errno)
      }
      guard count > 0 else { break }
      try writer.write(
        unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: buffer[..<count])))
      progress(writer.size, total)
    }
    guard allowingEmpty || writer.size > 0 else {
      throw Failure(
        .malformedInput,
        "standard input is empty, perhaps because the command before the pipe failed; nothing was "
          + "changed. --empty stores a value of no bytes", key: name)
    }
    try writer.commit()
  }

  /// The number of bytes from a descriptor's position to the end; 0 if unknown.
  private static func rest(of descriptor: Int32) -> Int {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return 0
    }
    return max(0, Int(status.st_size) - Int(max(0, lseek(descriptor, 0, SEEK_CUR))))
  }

  /// Creates a file for its owner alone: `body` fills it, and it appears complete or not at all.
  ///
  /// In a folder that the command has just made there is no vault, whatever names its files have.
  static func make(
    _ path: String, inNewFolder isInNewFolder: Bool = false, _ body: (Int32) throws -> Void
  ) throws {
    if let occupation = Path.occupation(of: path) { throw occupation }
    for suffix in FilePath.companionSuffixes where !isInNewFolder && path.hasSuffix(suffix) {
      guard try !Path.isThere(String(path.dropLast(suffix.count))) else {
        throw Failure(
          .usage, "a file beside a vault has this name; give another one", path: path)
      }
    }
    try Path.requireMaking(path)
    let folder = (path as NSString).deletingLastPathComponent
    // The file has no name until it is complete, so that a kill leaves no plaintext behind:
    // __O_TMPFILE of open(2), which is not in Glibc's module.
    let nameless = unsafe open(
      folder, O_WRONLY | 0o20000000 | O_DIRECTORY | O_CLOEXEC, 0o600)
    if nameless >= 0 {
      defer { close(nameless) }
      try write(nameless, path, body)
      return try link("/proc/self/fd/\(nameless)", to: path)
    }
    // A file system without O_TMPFILE gets a temporary name, which is short even if the file's is
    // long.
    let sibling = "\(folder)/.securestore.\(getpid()).new"
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let descriptor = unsafe open(sibling, flags, 0o600)
    guard descriptor >= 0 else { throw Failure(making: "file", path: path, number: errno) }
    defer {
      close(descriptor)
      unsafe unlink(sibling)
    }
    try write(descriptor, path, body)
    try link(sibling, to: path)
  }

  private static func write(
    _ descriptor: Int32, _ path: String, _ body: (Int32) throws -> Void
  ) throws {
    try body(descriptor)
    guard fsync(descriptor) == 0 else {
      throw Failure(system: "write the file", path: path, number: errno)
    }
  }

  /// Gives a file its name, unless the name is taken.
  private static func link(_ source: String, to path: String) throws {
    guard unsafe linkat(AT_FDCWD, source, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 else {
      throw Failure(system: "make the file", path: path, number: errno)
    }
  }

  static func write(
    _ reader: SealedFileReader, _ range: Range<Int>, _ descriptor: Int32, _ path: String?,
    _ progress: (Int) -> Void
  ) throws {
    var done = 0
    try reader.withChunks(of: range) { chunk in
      try unsafe chunk.withUnsafeBytes { bytes in
        try unsafe Output.write(bytes, to: descriptor, path: path)
      }
      done += chunk.byteCount
      progress(done)
    }
  }
}
