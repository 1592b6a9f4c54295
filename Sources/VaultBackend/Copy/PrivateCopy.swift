internal import CryptoCore
internal import Glibc
internal import StorageCore

/// A copy of a vault and its logs in a folder of our own, where SQLite can merge them.
///
/// It serves a read-only medium with the leftovers of a writer that died.
final class PrivateCopy: Sendable {
  private let folder: String
  private let process = OwnProcess()
  var path: String { folder + "/vault" }

  init(of file: VaultFile) throws(StorageError) {
    folder = try Self.makeFolder()
    do throws(StorageError) {
      try Self.copy(file, to: path)
      try Connection(path, .readWrite, until: .now).endLog()
    } catch {
      remove()
      throw error
    }
  }

  deinit { if process.isCurrent { remove() } }

  /// Makes a folder for the owner alone in the first place where that is possible.
  private static func makeFolder() throws(StorageError) -> String {
    // /dev/shm is memory, and can be written to where the whole disk is read-only: shm_overview(7).
    let bases = [try StandardFolders.environment("XDG_RUNTIME_DIR"), "/tmp", "/dev/shm"]
    for base in bases.compactMap(\.self) where base.hasPrefix("/") {
      var template = Array((base + "/securestorage-XXXXXX").utf8CString)
      // mkdtemp(3) makes a folder for the owner alone, with a new name.
      let isMade = unsafe template.withUnsafeMutableBufferPointer {
        unsafe mkdtemp($0.baseAddress!) != nil
      }
      guard isMade else { continue }
      return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    throw StorageError(
      .unavailable,
      "a program ended in the middle of its work on a vault that is read-only here. To read the vault, a copy "
        + "must be made, and no folder can be written to: set XDG_RUNTIME_DIR to a folder of this user"
    )
  }

  private static func copy(_ file: VaultFile, to path: String) throws(StorageError) {
    // Closing these loses no lock of SQLite's: nobody in this process writes to such a medium.
    for suffix in ["", "-wal", "-journal"] {
      guard let source = try OpenFile(file.path + suffix, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      else { continue }
      let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
      guard let destination = try OpenFile(path + suffix, flags) else { continue }
      try source.copy(to: destination)
    }
  }

  private func remove() {
    // Failures don't matter: leftover files are sealed, and in a folder of our own.
    for suffix in ["", "-wal", "-shm", "-journal"] { unsafe unlink(path + suffix) }
    unsafe rmdir(folder)
  }
}

extension OpenFile {
  // lseek(2); Glibc's module does not have Linux's own.
  private static var seekData: Int32 { 3 }
  private static var seekHole: Int32 { 4 }

  /// Copies all bytes to another file and leaves out holes: a file may be much larger than its
  /// data.
  fileprivate func copy(to destination: borrowing OpenFile) throws(StorageError) {
    let size = try off_t(status().size)
    var end: off_t = 0
    while end < size {
      let data = lseek(descriptor, end, Self.seekData)
      if data < 0, errno == ENXIO { break }  // nothing but a hole is left
      // A file system without holes may refuse to look for them.
      let start = max(data, end)
      let hole = lseek(descriptor, start, Self.seekHole)
      end = hole > start ? min(hole, size) : size
      try copy(from: start, upTo: end, to: destination)
    }
    guard FileSizeLimit.withoutSignal({ ftruncate(destination.descriptor, size) }) == 0 else {
      throw StorageError(system: "write", path: destination.path)
    }
  }

  private func copy(
    from start: off_t, upTo end: off_t, to destination: borrowing OpenFile
  ) throws(StorageError) {
    guard lseek(descriptor, start, SEEK_SET) == start,
      lseek(destination.descriptor, start, SEEK_SET) == start
    else { throw StorageError(system: "read", path: path) }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var left = Int(end - start)
    while left > 0 {
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe read(descriptor, $0.baseAddress, min($0.count, left))
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw StorageError(system: "read", path: path) }
      guard count > 0 else { return }
      try destination.write(unsafe buffer.span.bytes.extracting(first: count))
      left -= count
    }
  }
}
