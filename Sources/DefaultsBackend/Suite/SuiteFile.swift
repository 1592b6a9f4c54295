internal import Glibc
internal import StorageCore

/// The file of a suite and the lock files beside it.
struct SuiteFile: Sendable {
  /// What tells one state of the file from another.
  enum Stamp: Hashable, Sendable {
    case absent
    case present(FileStatus)
  }

  /// A file that was read or written, kept open so that its inode is not given to another.
  final class Held: Sendable {
    private let file: OpenFile

    init(_ file: consuming OpenFile) { self.file = file }
  }

  /// The file as it was at one time.
  struct Loaded {
    let stamp: Stamp?
    let held: Held?
    /// What it holds, or why that can't be known, which stays so until the file changes.
    let contents: Result<SuiteContents, StorageError>
  }

  private static let attempts = 100
  /// How long a look at the path counts unless said otherwise; see ``trust``.
  static let standardTrust: Int64 = 25_000

  let path: String
  /// For how many nanoseconds a process goes by what it saw when it looked at the path last.
  ///
  /// So a new state is shown to nobody before it has been in its place for longer: a write returns
  /// no earlier, and neither does a read that finds it. From then on every process sees it.
  let trust: Int64
  /// Twice as long, for clocks of processors that are apart.
  private var settling: Int64 { 2 * trust }

  var folder: String { FilePath.folder(of: path) }
  var lockPath: String { path + ".lock" }
  var headerLockPath: String { path + ".header.lock" }

  /// The present state, for the price of one stat(2).
  func stamp() throws(StorageError) -> Stamp {
    try FileStatus.of(path).map(Stamp.present) ?? .absent
  }

  /// Makes the folder if need be, and refuses one in which others could replace the file.
  func prepareFolder() throws(StorageError) {
    let folder = folder
    try Folder.create(folder)
    try Folder.requirePrivate(folder)
  }

  /// Reads the file, whole and as it was at one time.
  ///
  /// - Throws: `StorageError` when it can't be read: `denied` when it is not a file of ours.
  func load() throws(StorageError) -> Loaded {
    if try FileStatus.of(folder) != nil { try Folder.requirePrivate(folder) }
    for _ in 0..<Self.attempts {
      // O_NONBLOCK: a FIFO must not hold us up. Opened even when stat(2) finds nothing, since that
      // is also what a dangling link looks like.
      guard let file = try OpenFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else {
        MonotonicTime.now.waitUntilPassed(settling)
        return Loaded(stamp: .absent, held: nil, contents: .success(SuiteContents()))
      }
      let status = try file.status()
      try requireOurs(status)
      guard let bytes = try read(file), try file.status() == status,
        try stamp() == .present(status)
      else {
        usleep(1000)  // somebody writes in place, or has just replaced the file
        continue
      }
      let start = MonotonicTime.now
      try makeDurable()
      start.waitUntilPassed(settling)
      return Loaded(
        stamp: .present(status), held: Held(file), contents: contents(of: bytes))
    }
    throw StorageError(.busy, "the file kept changing while it was read; try again", path: path)
  }

  /// Replaces the file, durably.
  ///
  /// - Throws: `StorageError`; the old file is then still there, except with `outcomeUnknown`.
  func replace(with contents: SuiteContents) throws(StorageError) -> Loaded {
    let bytes = try contents.propertyList()
    let file = try unsafe DurableFile.replace(
      path, with: bytes.span.bytes, settling: settling)
    // The file is in place and durable. What it looks like can be found out later as well.
    let status = try? file.status()
    return Loaded(
      stamp: status.map(Stamp.present), held: Held(file), contents: .success(contents))
  }

  private func requireOurs(_ status: FileStatus) throws(StorageError) {
    guard status.isRegular else {
      throw StorageError(.denied, "it is not a regular file; move it away", path: path)
    }
    guard status.owner == geteuid() else {
      throw StorageError(
        .denied, "the file belongs to another user: \(StorageError.ownerAdvice)", path: path)
    }
  }

  /// All bytes, or nil when the file got shorter meanwhile.
  private func read(_ file: borrowing OpenFile) throws(StorageError) -> [UInt8]? {
    do throws(StorageError) {
      return try file.readAll(limit: FlatPropertyList.sizeLimit)
    } catch {
      guard error.code == .busy else { throw error }
      return nil
    }
  }

  /// Another process's file may be in place before its folder is durable.
  ///
  /// What is read here may be acted on, so it has to survive a power cut from now on.
  private func makeDurable() throws(StorageError) {
    do throws(StorageError) {
      try Folder.synchronize(folder)
    } catch {
      // A folder that can't be listed, or is read-only, is no reason not to read.
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
