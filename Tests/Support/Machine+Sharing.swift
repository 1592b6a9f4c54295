private import CGlibc
private import Foundation

extension Machine {
  /// Sets the mode of a folder, and gives another user the rights of its group with an access list.
  ///
  /// The group of a test may have no other member, so that its rights alone let nobody in.
  ///
  /// - Returns: whether that succeeded.
  package static func share(_ path: String, _ permissions: Int) -> Bool {
    let mode = mode_t(permissions)
    guard unsafe chmod(path, mode) == 0 else { return false }
    guard mode & 0o020 != 0 else { return true }
    // acl(5): the owner, a user, the group, the mask, all others; each a tag, rights and an id.
    let all = (mode >> 6 & 7, mode >> 3 & 7, mode & 7)
    let entries: [(tag: UInt32, rights: UInt32, id: UInt32)] = [
      (1, all.0, .max), (2, all.1, otherUser), (4, all.1, .max), (16, all.1, .max),
      (32, all.2, .max),
    ]
    var list = Data([2, 0, 0, 0])
    for entry in entries {
      for value in [entry.rights << 16 | entry.tag, entry.id] {
        unsafe withUnsafeBytes(of: value.littleEndian) { unsafe list.append(contentsOf: $0) }
      }
    }
    let result = unsafe list.withUnsafeBytes {
      unsafe setxattr(path, "system.posix_acl_access", $0.baseAddress, $0.count, 0)
    }
    // Some file systems have no access lists. There, the group is one that this user is not in.
    guard result != 0 else { return true }
    return unsafe lchown(path, .max, otherUser) == 0 && chmod(path, mode) == 0
  }
}
