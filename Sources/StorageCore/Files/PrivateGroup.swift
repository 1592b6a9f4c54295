internal import CGlibc
internal import CryptoCore
internal import Glibc

/// Tells which groups have no other member than this user.
///
/// Several distributions give each user a group of that kind, and the umask 002, so that folders
/// which a user makes are writable for the group.
enum PrivateGroup {
  /// What was found out, for as long as neither file changes.
  private struct Known {
    let stamps: [FileStatus?]
    var groups: [UInt32: Bool] = [:]
  }

  private static let users = "/etc/passwd"
  private static let groups = "/etc/group"
  private static let known = Lock<Known?>(nil)

  /// Whether nobody but this user and root is in the group of a file or folder, and no access list
  /// gives other users what the group may do.
  ///
  /// Only the system's own files are asked: a directory server could take long to answer, or not
  /// list the members. A group that they don't show is not private.
  static func owns(_ status: FileStatus, at path: String) -> Bool {
    isPrivate(status.group) && !hasAccessList(path)
  }

  private static func isPrivate(_ group: UInt32) -> Bool {
    let stamps = [users, groups].map(stamp)
    return known.withLock { known in
      var now = Known(stamps: stamps)
      if let last = known, last.stamps == stamps { now = last }
      let answer = now.groups[group] ?? lists(onlyUsIn: group)
      now.groups[group] = answer
      known = now
      return answer
    }
  }

  /// Changes with a file; nil for a file that can't be looked at, which then lists no member.
  private static func stamp(_ path: String) -> FileStatus? {
    do throws(StorageError) { return try .of(path) } catch { return nil }
  }

  /// The least number of a group that is not the system's: login.defs(5).
  private static let ownGroups: UInt32 = 1000

  /// Whether this user is the only member besides root of a group that the system's files list.
  ///
  /// It must be the user's first group, or none of the system's: programs run with the rights of
  /// groups of the system, whoever their members are.
  private static func lists(onlyUsIn group: UInt32) -> Bool {
    let own = geteuid()
    var names: Set<ExactString> = []
    var roots: Set<ExactString> = []
    var isAlone = true
    var hasMember = false
    let readUsers = unsafe entries(of: users, passwd(), fgetpwent_r) { (user) in
      let isOurs = unsafe user.pw_uid == own
      // Whoever has a name that can't be said may be anybody.
      guard let name = unsafe SystemText.exact(user.pw_name) else {
        isAlone = false
        return
      }
      if isOurs { names.insert(ExactString(text: name)) }
      if unsafe user.pw_uid == 0 { roots.insert(ExactString(text: name)) }
      // Names of NIS, which stand for users that are not listed here: nsswitch.conf(5).
      if name.hasPrefix("+") || name.hasPrefix("-") { isAlone = false }
      guard unsafe user.pw_gid == group else { return }
      hasMember = hasMember || isOurs
      isAlone = unsafe isAlone && (isOurs || user.pw_uid == 0)
    }
    var isListed = false
    let readGroups = unsafe entries(of: groups, Glibc.group(), fgetgrent_r) { entry in
      guard unsafe entry.gr_gid == group else { return }
      isListed = true
      var next = unsafe entry.gr_mem
      while let name = unsafe next?.pointee {
        let member = ExactString(text: unsafe SystemText.exact(name) ?? "")
        hasMember = hasMember || names.contains(member) && group >= ownGroups
        isAlone = isAlone && (names.contains(member) || roots.contains(member))
        unsafe next = unsafe next?.advanced(by: 1)
      }
    }
    // A group without members is used by programs that run with its rights.
    return readUsers && readGroups && isListed && hasMember && isAlone
  }

  /// Calls `body` with each entry of a file of users or groups.
  ///
  /// - Returns: false when the file can't be read to its end.
  private static func entries<Entry>(
    of path: String, _ empty: Entry,
    _ next: (
      UnsafeMutablePointer<FILE>, UnsafeMutablePointer<Entry>, UnsafeMutablePointer<CChar>, Int,
      UnsafeMutablePointer<UnsafeMutablePointer<Entry>?>
    ) -> Int32,
    _ body: (Entry) -> Void
  ) -> Bool {
    guard let file = unsafe fopen(path, "re") else { return false }
    defer { unsafe fclose(file) }
    unsafe flockfile(file)
    defer { unsafe funlockfile(file) }
    var entry = empty
    var found: UnsafeMutablePointer<Entry>?
    // Longer lines are those of groups with thousands of members.
    var buffer = [CChar](repeating: 0, count: 1 << 16)
    while true {
      let result = unsafe next(file, &entry, &buffer, buffer.count, &found)
      // getpwent_r(3): ENOENT at the end.
      guard result == 0 else { return result == ENOENT }
      body(entry)
    }
  }

  /// Whether a file has an access list, in which the bits for the group are those for all that are
  /// listed; see acl(5).
  private static func hasAccessList(_ path: String) -> Bool {
    if unsafe getxattr(path, "system.posix_acl_access", nil, 0) >= 0 { return true }
    return errno != ENODATA && errno != EOPNOTSUPP
  }
}
