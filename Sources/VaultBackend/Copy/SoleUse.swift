internal import CryptoCore
internal import Glibc
internal import StorageCore

/// The right to replace a vault's file: nobody has it open, and nobody can open it, until this
/// ends.
struct SoleUse: ~Copyable {
  /// Every open connection in write-ahead mode holds a shared lock on these bytes:
  /// https://sqlite.org/src/file/src/os.h, SHARED_FIRST.
  private static var shared: Int { 0x4000_0002 }

  /// The open file that holds the lock.
  private final class Holder: Sendable {
    let file: OpenFile

    init(_ file: consuming OpenFile) { self.file = file }
  }

  /// The holders of files that this process itself may still have open.
  ///
  /// Closing a holder would release the locks of this process's connections (fcntl(2)), and the
  /// next attempt would find the file unused.
  private static let refused = Lock<[String: Holder]>([:])

  private let holder: Holder

  /// Waits until nobody else has the file open, and merges its log into it.
  ///
  /// A file that SQLite can't read keeps its log.
  ///
  /// - Throws: `busy` when another process, or another storage of this process, has it open.
  init(of vault: VaultFile, until end: ContinuousClock.Instant) throws(StorageError) {
    while true {
      let isSound = try Self.endLog(of: vault, until: end)
      let holder = try Self.holder(of: vault)
      guard try holder.file.lock(byte: Self.shared, until: end) else {
        Self.refused.withLock { $0[vault.path] = holder }
        throw Self.busy(vault)
      }
      Self.refused.withLock { $0[vault.path] = nil }
      // In between, somebody may have opened the vault, written and closed it.
      let hasLog = try vault.hasLog()
      if !isSound || !hasLog {
        self.holder = holder
        return
      }
      guard ContinuousClock.now < end else { throw Self.busy(vault) }
    }
  }

  private static func holder(of vault: VaultFile) throws(StorageError) -> Holder {
    let folder = try vault.existingFolder()
    if let known = refused.withLock({ $0[vault.path] }), try known.file.isInPlace(in: folder) {
      return known
    }
    guard let file = try OpenFile(vault.name, in: folder, O_RDWR | O_NONBLOCK) else {
      throw StorageError(
        .unavailable,
        "the vault's file was removed or moved; put it back, or restore it from a backup",
        path: vault.path)
    }
    return Holder(file)
  }

  /// - Returns: whether SQLite could read the file.
  private static func endLog(
    of vault: VaultFile, until end: ContinuousClock.Instant
  ) throws(StorageError) -> Bool {
    do throws(StorageError) {
      let connection = try Connection(vault.path, .readWrite, until: end)
      try connection.endLog()
      return true
    } catch {
      guard error.code == .damaged else { throw error }
      return false
    }
  }

  private static func busy(_ vault: VaultFile) -> StorageError {
    StorageError(
      .busy, "another process has the vault open; end it, then try again", path: vault.path)
  }
}
