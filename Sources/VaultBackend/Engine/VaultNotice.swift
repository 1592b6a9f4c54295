internal import CryptoCore
internal import Glibc
internal import StorageCore

/// The file that tells watching processes about a new commit.
///
/// It is touched after a commit and not before: a watch on the log itself fires before the data is
/// durable. Its content means nothing. It is touched by a read, which inotify(7) reports like a
/// write: a write would leave work for the next fdatasync(2) of the log, a fifth of the processor
/// time of a small commit in `make bench`.
///
/// It also keeps some space on the disk, which a removal gets when the disk is full.
final class VaultNotice: Sendable {
  /// How much space the file keeps in bytes.
  ///
  /// A removal on a full disk needs it for SQLite's index of 32 KiB and for a log of the changed
  /// pages. Removed content is overwritten, so each of its pages is in the log too.
  static let reserve = 128 << 10

  private let file: VaultFile
  private let opened = Lock(Opened())

  private struct Opened {
    var file: Held?
    // Other processes' actions are checked once in each tick: a check after every commit would take
    // a fiftieth of the time of a small commit in `make bench`.

    /// The last tick in which the file was seen to exist.
    var seen: Int64 = 0
    /// The last tick in which nobody was seen to wait; 0 when somebody waited.
    var unawaited: Int64 = 0
  }

  private final class Held: Sendable {
    let file: OpenFile
    init(_ file: consuming OpenFile) { self.file = file }
  }

  init(_ file: VaultFile) { self.file = file }

  /// Makes the file, so that it can be watched.
  func prepare() {
    opened.withLock { opened in
      if opened.file == nil { opened.file = open() }
    }
  }

  /// Wakes the processes that watch the file.
  func post() {
    opened.withLock { opened in
      let now = ClockTick.now
      if opened.file == nil || now == 0 || now != opened.seen {
        if opened.file.map({ Self.isGone($0) }) ?? true { opened.file = open() }
        opened.seen = now
      }
      // Best effort: the change is durable, and readers see it all the same.
      guard let held = opened.file else { return }
      var byte: UInt8 = 1
      // A read of zero bytes wakes nobody.
      guard unsafe pread(held.file.descriptor, &byte, 1, 0) != 1 else { return }
      FileSizeLimit.withoutSignal { _ = unsafe pwrite(held.file.descriptor, &byte, 1, 0) }
    }
  }

  // MARK: - Waiting

  /// Waiting writers hold a shared lock on this byte.
  ///
  /// SQLite's lock can only be tried for, again and again: a process that writes all the time would
  /// take it back before any other had noticed that it was free. So a waiting process takes a lock
  /// on this byte, which ends with the process, and the others pause after their commits.
  private static let waiting = 0

  /// Runs `body` while other processes can see that this one waits.
  func whileWaiting(_ body: () throws(StorageError) -> Void) throws(StorageError) {
    let held = opened.withLock { opened in
      if opened.file == nil { opened.file = open() }
      return opened.file
    }
    // Best effort: without this lock, waiting takes longer.
    do throws(StorageError) { _ = try held?.file.tryShare(byte: Self.waiting) } catch {}
    defer { do throws(StorageError) { try held?.file.unlock(byte: Self.waiting) } catch {} }
    try body()
  }

  /// Whether another process waits to write.
  var isAwaited: Bool {
    opened.withLock { opened in
      let now = ClockTick.now
      guard now == 0 || now != opened.unawaited else { return false }
      let isAwaited = opened.file?.file.isShared(byte: Self.waiting) ?? false
      opened.unawaited = isAwaited ? 0 : now
      return isAwaited
    }
  }

  // MARK: - Space

  /// Runs `body` while the space that the file keeps is free for everybody.
  func lendingSpace<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    let held = opened.withLock { opened in
      if opened.file == nil { opened.file = open() }
      return opened.file
    }
    // Best effort: where the file keeps nothing, `body` finds out.
    if let held { _ = ftruncate(held.file.descriptor, 1) }
    defer { if let held { Self.keepSpace(held.file) } }
    return try body()
  }

  /// Takes the space that the file is to keep, if there is enough.
  private static func keepSpace(_ file: borrowing OpenFile) {
    do throws(StorageError) {
      let size = try file.status().size
      guard size < reserve else { return }
      let number = FileSizeLimit.withoutSignal {
        posix_fallocate(file.descriptor, 0, off_t(reserve))
      }
      // What was taken in vain is given back.
      if number != 0 { _ = ftruncate(file.descriptor, off_t(size)) }
    } catch {}
  }

  private static func isGone(_ held: Held) -> Bool {
    var status = stat()
    return unsafe fstat(held.file.descriptor, &status) != 0 || status.st_nlink == 0
  }

  private func open() -> Held? {
    let flags = O_RDWR | O_CREAT | O_NONBLOCK
    do throws(StorageError) {
      guard let folder = try file.openFolder(),
        let file = try OpenFile(FilePath.name(of: file.noticePath), in: folder, flags)
      else { return nil }
      Self.keepSpace(file)
      return Held(file)
    } catch {
      return nil  // without the file, other processes' observers hear of the change later
    }
  }
}
