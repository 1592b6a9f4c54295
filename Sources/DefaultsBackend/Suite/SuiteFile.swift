internal import Glibc
internal import StorageCore

/// The file of a suite and the lock file beside it.
struct SuiteFile: Sendable {
  /// Identifies a state of the file.
  enum Stamp: Hashable, Sendable {
    case absent
    case present(FileStatus)
  }

  /// A file that was read or written; kept open so that its inode is not reused.
  final class Held: Sendable {
    private let file: OpenFile

    init(_ file: consuming OpenFile) { self.file = file }
  }

  /// The file at one moment.
  struct Loaded {
    let stamp: Stamp?
    let held: Held?
    /// The contents, or why they can't be read.
    ///
    /// The error stays the same until the file changes.
    let contents: Result<SuiteContents, StorageError>
  }

  private static let attempts = 100
  /// How long the result of a stat(2) is trusted by default; see ``trust``.
  static let standardTrust: Int64 = 25_000

  let path: String
  /// For how many nanoseconds a process trusts its last look at the path.
  ///
  /// A new state is shown to nobody before it has been in place for longer than this: neither a
  /// write nor a read that finds it returns earlier. From then on every process sees it.
  let trust: Int64
  /// Twice ``trust``, because the clocks of processors may differ.
  private var settling: Int64 { 2 * trust }

  var folder: String { FilePath.folder(of: path) }
  var lockPath: String { path + ".lock" }

  /// The current state of the file; costs one stat(2).
  func stamp() throws(StorageError) -> Stamp {
    try FileStatus.of(path).map(Stamp.present) ?? .absent
  }

  /// Creates the folder if needed, and refuses a folder in which others could replace the file.
  func prepareFolder() throws(StorageError) {
    let folder = folder
    try Folder.requirePrivateWay(folder, isMaking: true)
  }

  /// Reads the whole file as it was at one moment.
  ///
  /// - Throws: `StorageError` when the file can't be read; `denied` when it is not a regular file
  ///   of this user.
  func load() throws(StorageError) -> Loaded {
    if try FileStatus.of(folder) != nil { try Folder.requirePrivateWay(folder) }
    for _ in 0..<Self.attempts {
      // O_NONBLOCK, because opening a FIFO must not block. The file is opened even when stat(2)
      // finds nothing, because a dangling link gives the same result.
      guard let file = try OpenFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else {
        MonotonicTime.now.waitUntilPassed(settling)
        return Loaded(stamp: .absent, held: nil, contents: .success(SuiteContents()))
      }
      let status = try file.status()
      try requireOurs(status)
      guard let bytes = try read(file), try file.status() == status,
        try stamp() == .present(status)
      else {
        usleep(1000)  // another process writes in place, or has just replaced the file
        continue
      }
      let start = MonotonicTime.now
      try makeDurable(file)
      start.waitUntilPassed(settling)
      return Loaded(
        stamp: .present(status), held: Held(file), contents: contents(of: bytes))
    }
    throw StorageError(.busy, "the file keeps changing; try again", path: path)
  }

  /// Replaces the file, durably or without waiting for the disk.
  ///
  /// - Throws: `StorageError`. The old file then remains, except after `outcomeUnknown`.
  func replace(
    with contents: SuiteContents, isSynchronized: Bool
  ) throws(StorageError) -> Loaded {
    let bytes = try contents.propertyList()
    let file = try unsafe DurableFile.replace(
      path, with: bytes.span.bytes, settling: settling, isSynchronized: isSynchronized)
    // The file is in place. Its status can also be read later.
    let status = try? file.status()
    return Loaded(
      stamp: status.map(Stamp.present), held: Held(file), contents: .success(contents))
  }

  func requireOurs(_ status: FileStatus) throws(StorageError) {
    try status.requireRegular(path)
    try status.requireOwner(path, orRoot: false)
  }

  /// All bytes, or nil when the file became shorter meanwhile.
  private func read(_ file: borrowing OpenFile) throws(StorageError) -> [UInt8]? {
    do throws(StorageError) {
      return try file.readAll(limit: FlatPropertyList.sizeLimit)
    } catch {
      guard error.code == .busy else { throw error }
      return nil
    }
  }

  /// Makes a file that another process has put in place durable.
  ///
  /// The caller may act on what it reads, so that must survive a power cut from now on.
  private func makeDurable(_ file: borrowing OpenFile) throws(StorageError) {
    do throws(StorageError) {
      try file.synchronize()
      try Folder.synchronize(folder)
    } catch {
      // A folder that can't be listed, or is read-only, can still be read from.
      guard [.denied, .readOnly, .unavailable].contains(error.code) else { throw error }
    }
  }

  private func contents(of bytes: [UInt8]) -> Result<SuiteContents, StorageError> {
    do throws(StorageError) {
      return .success(try SuiteContents(reading: bytes))
    } catch {
      return .failure(StorageError(error.code, error.message, path: path))
    }
  }
}
