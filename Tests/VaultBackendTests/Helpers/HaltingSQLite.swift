import CSQLite
import CryptoCore
import Foundation

/// Has this process stop at two places in its next checkpoint, by a VFS of SQLite around its own.
///
/// For a process that does nothing else: the places are those of whoever comes there first.
enum HaltingSQLite {
  /// Where a checkpoint stops.
  enum Place: Int {
    /// Before it takes SQLite's lock of checkpoints.
    case entry = 1
    /// After it has read the header of the log's index, and found that others have written; before
    /// it compares that with how much is copied.
    case header = 2
  }

  // Set once, by `install()`, before anything is opened.
  nonisolated(unsafe) private static var original: UnsafeMutablePointer<sqlite3_vfs>!
  nonisolated(unsafe) private static var ownMethods: UnsafePointer<sqlite3_io_methods>!
  nonisolated(unsafe) private static let methods = UnsafeMutablePointer<sqlite3_io_methods>
    .allocate(
      capacity: 1)
  private static let next = Lock(0)
  private static let reached = DispatchSemaphore(value: 0)
  private static let go = DispatchSemaphore(value: 0)

  /// From now on files are opened by way of this.
  static func install() {
    unsafe original = sqlite3_vfs_find(nil)
    let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    unsafe vfs.initialize(to: original.pointee)
    unsafe vfs.pointee.zName = UnsafePointer(strdup("halting"))
    unsafe vfs.pointee.xOpen = { _, name, file, flags, outFlags in
      let code = unsafe HaltingSQLite.original.pointee.xOpen(
        HaltingSQLite.original, name, file, flags, outFlags)
      guard code == SQLITE_OK, flags & SQLITE_OPEN_MAIN_DB != 0, let file = unsafe file,
        let own = unsafe file.pointee.pMethods
      else { return code }
      unsafe HaltingSQLite.ownMethods = own
      unsafe HaltingSQLite.methods.initialize(to: own.pointee)
      unsafe HaltingSQLite.methods.pointee.xShmLock = { file, offset, count, flags in
        // https://sqlite.org/walformat.html: WAL_CKPT_LOCK is the second.
        if offset == 1, count == 1, flags == SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE {
          HaltingSQLite.stop(.entry)
        }
        return unsafe HaltingSQLite.ownMethods.pointee.xShmLock(file, offset, count, flags)
      }
      unsafe HaltingSQLite.methods.pointee.xUnfetch = { file, offset, page in
        HaltingSQLite.stop(.header)
        return unsafe HaltingSQLite.ownMethods.pointee.xUnfetch(file, offset, page)
      }
      unsafe file.pointee.pMethods = UnsafePointer(HaltingSQLite.methods)
      return code
    }
    precondition(unsafe sqlite3_vfs_register(vfs, 1) == SQLITE_OK)
  }

  /// Has the next checkpoint stop.
  static func arm() { next.withLock { $0 = Place.entry.rawValue } }

  /// Waits for a checkpoint to come to its next place.
  ///
  /// - Returns: false when none did in that time.
  static func waits(_ seconds: Double) -> Bool {
    reached.wait(timeout: .now() + seconds) == .success
  }

  /// Lets the checkpoint go on.
  static func resume() { go.signal() }

  /// Stops no checkpoint any more, and lets one that is stopped go on.
  static func disarm() {
    next.withLock { $0 = 0 }
    go.signal()
  }

  fileprivate static func stop(_ place: Place) {
    let isHere = next.withLock { next in
      guard next == place.rawValue else { return false }
      next += 1
      return true
    }
    guard isHere else { return }
    reached.signal()
    go.wait()
  }
}
