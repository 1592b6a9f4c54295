internal import Glibc

/// Who may write to the folder of a store, besides the process that uses it and root.
public enum FolderTrust: Hashable, Sendable {
  /// Nobody.
  case owner
  /// The members of a group of this process, as in a Kubernetes volume with `fsGroup`, which is `2775`
  /// and root's.
  ///
  /// It holds for the vault's folder, those on the way to it, and the files in it, to which Kubernetes
  /// gives the group's permissions at each mount; a vault takes those away when it is opened for writing.
  /// The group's members can then do all that somebody can do who writes to the folder: remove the
  /// store, put an older one in its place, and stop its programs. Folders that all users can write to are
  /// refused as ever.
  case processGroup
}

extension FolderTrust {
  /// Whether somebody can write to a file or folder who is not trusted to.
  package func lets(othersWriteTo status: FileStatus) -> Bool {
    guard status.permissions & 0o002 == 0 else { return true }
    guard status.permissions & 0o020 != 0 else { return false }
    return self == .owner || !Self.isOurs(group: status.group)
  }

  /// What to do about a folder that is refused.
  package func advice(for status: FileStatus) -> String {
    let isOfGroup = status.permissions & 0o002 == 0 && Self.isOurs(group: status.group)
    return self == .owner && isOfGroup
      ? "chmod go-w it, or say that its group is trusted, with FolderTrust.processGroup"
      : "chmod go-w it"
  }

  /// Whether this process is in a group.
  private static func isOurs(group: UInt32) -> Bool {
    if group == getegid() { return true }
    // getgroups(2): the number of them, and then as many.
    let count = getgroups(0, nil)
    guard count > 0 else { return false }
    var groups = [gid_t](repeating: 0, count: Int(count))
    let found = unsafe getgroups(count, &groups)
    return found > 0 && groups.prefix(Int(found)).contains(group)
  }
}
