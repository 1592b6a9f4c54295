internal import CSQLite
internal import CryptoCore
internal import Glibc
internal import StorageCore

extension StorageError {
  /// The error of a result code of SQLite: https://sqlite.org/rescode.html.
  ///
  /// - Parameters:
  ///   - code: the extended result code.
  ///   - action: the action that failed, such as "read".
  ///   - path: the vault.
  ///   - systemNumber: the `errno` behind it, or 0.
  init(sqlite code: Int32, _ action: String, path: String, systemNumber: Int32 = 0) {
    let reason = unsafe SystemText.shown(sqlite3_errstr(code))
    // An ENOENT that SQLite reports may come from a later call and hide the real failure.
    let isMisleading = [ENOENT, ENOTDIR].contains(systemNumber)
    let isThere = FileStatus.ofFolder(containing: path) != nil
    let (kind, advice) = Self.meaning(
      of: code, systemNumber: isMisleading && isThere ? 0 : systemNumber, path)
    // SQLite treats COMMIT as a reading statement, but a full disk fails its writes.
    let action = kind == .full && action == "read" ? "write to" : action
    self.init(
      kind, "could not \(action) the vault: \(reason)\(advice)", path: path, number: Int(code))
  }

  /// SQLITE_READONLY_ROLLBACK: a rollback journal must be played back, which is a write.
  static let unfinished: Int32 = SQLITE_READONLY | 3 << 8

  /// SQLITE_IOERR_WRITE: a write failed, before anything was made durable.
  static let unwritten: Int32 = SQLITE_IOERR | 3 << 8

  /// What to do about a file that is damaged.
  static let damageAdvice = "; restore it from a backup, or verify it to see what is left"

  /// The message without the advice to verify, for a verification's finding.
  var finding: String {
    message.hasSuffix(Self.damageAdvice)
      ? String(message.dropLast(Self.damageAdvice.count)) : message
  }

  private static func meaning(
    of code: Int32, systemNumber: Int32, _ path: String
  ) -> (Code, String) {
    if code == unfinished {
      return (
        .readOnly,
        "; a program ended in the middle of a write. Open the vault once with a program that "
          + "may write to the file and its folder"
      )
    }
    // The primary result code is the low byte.
    switch code & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED:
      return (.busy, "; another process or thread held it until the deadline; try again")
    case SQLITE_FULL: return (.full, "; free some space and try again")
    case SQLITE_READONLY:
      return (.readOnly, "; the file is opened read-only, or this user may not write to it")
    case SQLITE_CORRUPT: return (.damaged, damageAdvice)
    case SQLITE_NOTADB where path.hasSuffix(".secure.plist"):
      return (
        .invalid,
        "; by its name it is a suite, which keeps settings in a property list, and not a vault. Give "
          + "the path of a vault"
      )
    case SQLITE_NOTADB:
      return (
        .damaged, "; the file is not a vault, or its first bytes were overwritten" + damageAdvice
      )
    case SQLITE_PERM, SQLITE_AUTH: return (.denied, "")
    case SQLITE_TOOBIG:
      return (.damaged, "; a value in it is larger than a vault allows" + damageAdvice)
    // Our statements fail only because of the file's content: a schema or format that changed since
    // the check, or rows that contradict each other.
    case SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH:
      return (.damaged, "; the file does not have the form of a vault" + damageAdvice)
    case SQLITE_CANTOPEN, SQLITE_IOERR: return systemMeaning(of: systemNumber, path)
    default: return (.io, "")
    }
  }

  private static func systemMeaning(of number: Int32, _ path: String) -> (Code, String) {
    switch number {
    case ENOSPC, EDQUOT: (.full, "; free some space and try again")
    case EFBIG: (.full, "; \(sizeLimitAdvice)")
    case _ where isWithoutLocks(number): (.unsupported, "; \(noLocksAdvice)")
    case ENODEV:
      (
        .unsupported,
        "; the file system offers no shared memory: use a folder on a local file system"
      )
    case EROFS: (.readOnly, "; use a folder that can be written to")
    case EACCES, EPERM: (.denied, deniedAdvice(path))
    case ENOENT, ENOTDIR:
      (.unavailable, "; the vault's folder does not exist; create it, or check the path")
    case 0: (.io, "")
    default: unsafe (.io, ": " + SystemText.shown(strerror(number)))
    }
  }

  private static func deniedAdvice(_ path: String) -> String {
    // Otherwise SQLite may not open the log or the index, or may not create them.
    guard unsafe access(path, R_OK | W_OK) == 0 else { return refusal(of: path, isOpening: true).1 }
    return
      "; this user may not open or create the files beside the vault; change the permissions of "
      + "these files and of the folder"
  }
}
