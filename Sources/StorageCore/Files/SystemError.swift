internal import CryptoCore
internal import Glibc

extension StorageError {
  /// Makes the error for an `errno` of a file operation.
  ///
  /// - Parameters:
  ///   - action: the failed action, such as "open".
  ///   - path: the file or folder.
  ///   - number: the `errno`; the current one by default.
  ///   - isOpening: whether the action was to open an existing file.
  package init(
    system action: String, path: String, number: Int32 = errno, isOpening: Bool = false
  ) {
    let reason = unsafe SystemText.shown(strerror(number))
    let code: Code
    let advice: String
    switch number {
    case EACCES, EPERM: (code, advice) = Self.refusal(of: path, isOpening: isOpening)
    case EROFS: (code, advice) = (.readOnly, "; use a folder on a writable file system")
    case ENOSPC, EDQUOT: (code, advice) = (.full, "; free some space and try again")
    case EFBIG: (code, advice) = (.full, "; \(Self.sizeLimitAdvice)")
    case ENAMETOOLONG: (code, advice) = (.invalid, "; use a shorter name or path")
    case _ where action == Self.locking && Self.isWithoutLocks(number):
      (code, advice) = (.unsupported, "; \(Self.noLocksAdvice)")
    case ENOENT, ENOTDIR: (code, advice) = (.unavailable, "; create the folder first")
    case ELOOP: (code, advice) = (.denied, "; \(Self.linkAdvice)")
    default: (code, advice) = (.io, "")
    }
    self.init(
      code, "could not \(action): \(reason)\(advice)", path: path, number: Int(number))
  }

  /// Whether this is an error of fcntl(2) on a file system without locks.
  package static func isWithoutLocks(_ number: Int32) -> Bool {
    [ENOLCK, EOPNOTSUPP, ENOSYS].contains(number)
  }

  /// The action of taking a lock.
  package static let locking = "lock"

  /// Advice where the file system has no locks.
  package static let noLocksAdvice =
    "this file system has no locks, so programs could overwrite each other's changes: use a folder on a local "
    + "file system"

  /// Advice for a file that would become larger than a limit allows.
  package static let sizeLimitAdvice =
    "raise the limit for the size of a file (ulimit -f, or LimitFSIZE= of systemd), then try again"

  /// Advice for a file that another user owns.
  package static let ownerAdvice = "run as its owner, or give it to this user with chown"

  /// Advice for a symbolic link that is not followed.
  package static let linkAdvice =
    "symbolic links are not followed here: give the path that the link leads to, or move the link away"

  /// The error code and the advice for a refused access, from the permissions of the file or its
  /// folder.
  package static func refusal(of path: String, isOpening: Bool) -> (Code, String) {
    var status = stat()
    let isThere = unsafe lstat(path, &status) == 0
    guard isThere || errno != EACCES else {
      return (.denied, "; this user can't enter its folder: run as the user that owns the folder")
    }
    if isThere, isOpening {
      guard status.st_uid == geteuid() else {
        return (.denied, "; it belongs to another user: \(ownerAdvice)")
      }
      return (status.st_mode & S_IRUSR == 0 ? .denied : .readOnly, "; run chmod u+rw on it")
    }
    let isOurs = FileStatus.ofFolder(containing: path)?.owner == geteuid()
    return isOurs
      ? (.readOnly, "; make the folder writable")
      : (.denied, "; run as the user that owns the folder")
  }
}

/// The part of the result of stat(2) that stores need.
package struct FileStatus: Hashable, Sendable {
  /// The device; with the inode, it identifies the file while the file is open or linked.
  package let device: UInt64
  /// The inode number.
  package let inode: UInt64
  /// The size in bytes.
  package let size: Int
  /// When the content last changed, in nanoseconds.
  package let modified: Int64
  /// When the inode last changed, in nanoseconds.
  package let changed: Int64
  /// The owner's user id.
  package let owner: UInt32
  /// The group's id.
  package let group: UInt32
  /// The permission bits.
  package let permissions: UInt32
  /// Whether it is a regular file.
  package let isRegular: Bool
  /// Whether it is a folder.
  package let isFolder: Bool
  /// Whether it is a symbolic link; only ``ofEntry(_:)`` can find a link.
  package let isLink: Bool
  /// Whether it is a device.
  package let isDevice: Bool
  /// Whether it is a folder below one that nobody but this user and root can enter.
  ///
  /// Only ``FolderDescriptor/status()`` can tell.
  package internal(set) var isEnclosed = false

  /// Tells a file from all other files that are open or linked.
  package struct Identity: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    fileprivate init(_ status: FileStatus) {
      (device, inode) = (status.device, status.inode)
    }
  }
  /// The identity of the file.
  package var identity: Identity { Identity(self) }

  /// Whether its owner lets others write to it: all, a group of this process, or a group that owns
  /// whatever is made in it.
  package var isShared: Bool {
    permissions & 0o002 != 0 || permissions & 0o2020 == 0o2020
      || permissions & 0o020 != 0 && FolderTrust.isOurs(group: group)
  }

  /// Whether it is a folder, such as `/tmp`, in which only the owner of a file can remove the file.
  package var isSticky: Bool { permissions & 0o1000 != 0 }

  fileprivate init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int(status.st_size)
    modified = Self.nanoseconds(status.st_mtim)
    changed = Self.nanoseconds(status.st_ctim)
    owner = status.st_uid
    group = status.st_gid
    permissions = status.st_mode & 0o7777
    isRegular = status.st_mode & S_IFMT == S_IFREG
    isFolder = status.st_mode & S_IFMT == S_IFDIR
    isLink = status.st_mode & S_IFMT == S_IFLNK
    isDevice = status.st_mode & S_IFMT == S_IFCHR || status.st_mode & S_IFMT == S_IFBLK
  }

  /// A time in nanoseconds; exact for the years 1678 to 2261.
  ///
  /// Any other time wraps around; a user can give a file any time.
  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  /// The status of the file at `path`, following links; nil when it does not exist.
  package static func of(_ path: String) throws(StorageError) -> FileStatus? {
    var status = stat()
    guard unsafe stat(path, &status) != 0 else { return FileStatus(status) }
    if errno == ENOENT { return nil }
    throw StorageError(system: "look at the file", path: path)
  }

  /// The status of the file or link at `path`, without following links; nil when it does not exist.
  package static func ofEntry(_ path: String) throws(StorageError) -> FileStatus? {
    var status = stat()
    guard unsafe lstat(path, &status) != 0 else { return FileStatus(status) }
    if errno == ENOENT { return nil }
    throw StorageError(system: "look at the file", path: path)
  }

  /// The status of an entry of an open folder, without following a link; nil when there is none.
  package static func ofEntry(
    _ name: String, in folder: FolderDescriptor
  ) throws(StorageError) -> FileStatus? {
    var status = stat()
    guard unsafe fstatat(folder.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) != 0 else {
      return FileStatus(status)
    }
    if errno == ENOENT { return nil }
    throw StorageError(system: "look at the file", path: folder.path(of: name))
  }

  /// The status of an open file.
  package static func of(descriptor: Int32, path: String) throws(StorageError) -> FileStatus {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
      throw StorageError(system: "look at the file", path: path)
    }
    return FileStatus(status)
  }

  /// The status of the folder that holds `path`; nil when it can't be read.
  package static func ofFolder(containing path: String) -> FileStatus? {
    var status = stat()
    return unsafe stat(FilePath.folder(of: path), &status) == 0 ? FileStatus(status) : nil
  }
}

/// Path strings.
package enum FilePath {
  /// The longest path that the system accepts, in bytes: PATH_MAX, without the zero byte.
  package static var limit: Int { 4095 }
  /// The longest name of a file, in bytes.
  private static var nameLimit: Int { 255 }

  /// How the names of the files beside a vault end.
  package static var companionSuffixes: [String] { ["-wal", "-shm", "-journal", "-notice"] }

  /// Whether the path, and its name, can get a suffix.
  package static func hasRoom(at path: String, for suffix: String, limit: Int = limit) -> Bool {
    path.utf8.count + suffix.utf8.count <= limit
      && name(of: path).utf8.count + suffix.utf8.count <= nameLimit
  }

  /// Refuses a path at which a store can't make all of its files, before it makes the first one.
  ///
  /// - Parameters:
  ///   - path: the path of the store's file.
  ///   - suffix: the longest suffix of the names of files beside it.
  ///   - limit: the longest path in bytes that can be opened.
  /// - Throws: `invalid`.
  package static func requireRoom(
    at path: String, for suffix: String, limit: Int = limit
  ) throws(StorageError) {
    guard !hasRoom(at: path, for: suffix, limit: limit) else { return }
    let (pathLimit, nameLimit) = (limit - suffix.utf8.count, nameLimit - suffix.utf8.count)
    throw StorageError(
      .invalid,
      "the path is too long; use a path of at most \(pathLimit) bytes, with a file name of at most "
        + "\(nameLimit) bytes, because files beside it have longer names", path: path)
  }

  /// The folder part of an absolute path.
  package static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// The last component of a path.
  package static func name(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return path }
    return String(path[path.index(after: slash)...])
  }
}
