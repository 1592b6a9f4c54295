internal import CProcess
internal import CryptoCore
internal import Foundation
internal import Glibc

/// A secret in a file in memory, for the time that an editor changes it.
///
/// Editors want a path, and many write a new file and rename it. So the file is in a folder of its
/// own, which only its owner can enter, on a file system that is in memory.
enum EditedFile {
  /// Lets an editor change bytes.
  ///
  /// - Parameters:
  ///   - bytes: the text.
  ///   - editor: the command, as a shell reads it.
  ///   - variables: the variables that the editor does not get.
  /// - Returns: the text when the editor has ended.
  /// - Throws: `Failure` if there is no folder in memory, or the editor fails.
  static func edit(
    _ bytes: [UInt8], with editor: String, without variables: Set<String>
  ) throws -> SecureBytes {
    // Signals that would end this process wait until the file is gone. The editor gets them, too.
    var (ending, old) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&ending)
    for number in [SIGTERM, SIGHUP] { unsafe sigaddset(&ending, number) }
    unsafe pthread_sigmask(SIG_BLOCK, &ending, &old)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &old, nil) }
    let folder = try makeFolder()
    defer { wipe(folder) }
    let path = folder + "/value"
    try write(bytes, to: path)
    let status = try ChildEnvironment(without: variables).run(
      ["/bin/sh", "-c", editor + " \"$1\"", "sh", path], signals: old)
    guard status == 0 else {
      throw Failure(
        .cancelled, "the editor ended with status \(status), and nothing was changed")
    }
    return try SecretInput.file(path, isSecret: true)
  }

  private static func makeFolder() throws -> String {
    for base in ["/dev/shm", Environment.value("XDG_RUNTIME_DIR")].compactMap(\.self) {
      guard unsafe process_is_in_memory(base) == 1 else { continue }
      var template = Array((base + "/securestore-XXXXXX").utf8CString)
      let isMade = unsafe template.withUnsafeMutableBufferPointer {
        unsafe mkdtemp($0.baseAddress!) != nil
      }
      if isMade {
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      }
    }
    throw Failure(
      .unavailable,
      "there is no folder in memory for the editor's file: neither /dev/shm nor $XDG_RUNTIME_DIR is a "
        + "tmpfs that this user may write to. Use get and set")
  }

  private static func write(_ bytes: [UInt8], to path: String) throws {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Failure(making: "file", path: path, number: errno) }
    defer { close(descriptor) }
    try Output.write(bytes, to: descriptor, path: path)
  }

  /// Overwrites and removes all files of the folder, with those that the editor left, and the
  /// folder.
  private static func wipe(_ folder: String) {
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    for name in names.reversed() {
      let path = folder + "/" + name
      overwrite(path)
      if unsafe unlink(path) != 0 { unsafe rmdir(path) }
    }
    unsafe rmdir(folder)
  }

  private static func overwrite(_ path: String) {
    let descriptor = unsafe open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
    // A failed write leaves bytes in memory that no name leads to.
    do { try Output.write([UInt8](repeating: 0, count: Int(status.st_size)), to: descriptor) } catch
    {}
  }
}
