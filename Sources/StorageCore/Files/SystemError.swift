internal import Glibc

extension StorageError {
  /// What an `errno` of a file operation means.
  ///
  /// - Parameters:
  ///   - action: what was tried, as in "open".
  ///   - path: the file or folder.
  ///   - number: the `errno`; the current one unless said otherwise.
  ///   - isOpening: whether what is there already was to be opened, if anything is.
  package init(
    system action: String, path: String, number: Int32 = errno, isOpening: Bool = false
  ) {
    let reason = unsafe String(cString: strerror(number))
    let code: Code
    let advice: String
    switch number {
    case EACCES, EPERM: (code, advice) = Self.refusal(of: path, isOpening: isOpening)
    case EROFS: (code, advice) = (.readOnly, "; use a folder that can be written to")
    case ENOSPC, EDQUOT, EFBIG: (code, advice) = (.full, "; free some space and try again")
    case ENOENT, ENOTDIR: (code, advice) = (.unavailable, "; create the folder first")
    case ELOOP: (code, advice) = (.denied, "; \(Self.linkAdvice)")
    default: (code, advice) = (.io, "")
    }
    self.init(
      code, "could not \(action): \(reason)\(advice)", path: path, number: Int(number))
  }

  /// What to do about a file that belongs to another user.
  package static let ownerAdvice = "run as its owner, or give it to this user with chown"

  /// What to do about a link that is not followed.
  package static let linkAdvice =
    "links are not followed here: give the path that it leads to, or move it away"

  /// Whether the file refuses, or its folder, and what to do about it.
  package static func refusal(of path: String, isOpening: Bool) -> (Code, String) {
    var status = stat()
    let isThere = unsafe lstat(path, &status) == 0
    guard isThere || errno != EACCES else {
      return (.denied, "; this user can't enter its folder: run as the user that owns it")
    }
    if isThere, isOpening {
      guard status.st_uid == geteuid() else {
        return (.denied, "; it belongs to another user: \(ownerAdvice)")
      }
      return (status.st_mode & S_IRUSR == 0 ? .denied : .readOnly, "; chmod u+rw it")
    }
    let isOurs = FileStatus.ofFolder(containing: path)?.owner == geteuid()
    return isOurs
      ? (.readOnly, "; make the folder writable") : (.denied, "; run as the user that owns it")
  }
}

/// What stat(2) says of a file, as far as stores need it.
package struct FileStatus: Hashable, Sendable {
  /// The device and inode: the identity of the file while it is open or linked.
  package let device: UInt64
  /// The inode.
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
  /// Whether it is a symbolic link, which only ``ofEntry(_:)`` can find.
  package let isLink: Bool
  /// Whether it is a device.
  package let isDevice: Bool

  /// What tells a file from all others that are open or linked.
  package struct Identity: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    fileprivate init(_ status: FileStatus) {
      (device, inode) = (status.device, status.inode)
    }
  }
  /// Which file it is.
  package var identity: Identity { Identity(self) }

  /// Whether it is a folder in which a file can be removed by its owner alone, as `/tmp`.
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

  /// A time of the years 1678 to 2261; another, which anybody can give a file, wraps around.
  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  /// The status of what `path` names, following links, or nil when there is nothing.
  package static func of(_ path: String) throws(StorageError) -> FileStatus? {
    var status = stat()
    guard unsafe stat(path, &status) != 0 else { return FileStatus(status) }
    if errno == ENOENT { return nil }
    throw StorageError(system: "look at the file", path: path)
  }

  /// The status of what is at `path`, a link itself, or nil when there is nothing.
  package static func ofEntry(_ path: String) throws(StorageError) -> FileStatus? {
    var status = stat()
    guard unsafe lstat(path, &status) != 0 else { return FileStatus(status) }
    if errno == ENOENT { return nil }
    throw StorageError(system: "look at the file", path: path)
  }

  /// The status of an open file.
  package static func of(descriptor: Int32, path: String) throws(StorageError) -> FileStatus {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
      throw StorageError(system: "look at the file", path: path)
    }
    return FileStatus(status)
  }

  /// The status of the folder that holds `path`; nil when that can't be known.
  package static func ofFolder(containing path: String) -> FileStatus? {
    var status = stat()
    return unsafe stat(FilePath.folder(of: path), &status) == 0 ? FileStatus(status) : nil
  }
}

/// Path strings.
package enum FilePath {
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
