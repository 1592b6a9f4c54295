internal import Glibc

/// Who may write to the folder of a store, besides the process that uses it and root.
public enum FolderTrust: Hashable, Sendable {
  /// No one else.
  ///
  /// A group that has no other member counts as this user: several distributions give every user
  /// such a group. The members are looked up in `/etc/passwd` and `/etc/group`. What is below a
  /// folder that nobody else can enter, such as a home folder with the mode `0700`, is out of
  /// others' reach with any mode.
  case owner
  /// The members of a group of this process.
  ///
  /// Use it for a Kubernetes volume with `fsGroup`, which root owns with the mode `2775`. The trust
  /// applies to the vault's folder, to the folders above it, and to the files in it. Kubernetes
  /// gives these files the group's permissions at each mount; a vault removes the permissions when
  /// it is opened for writing.
  ///
  /// Members of the group can then do anything that write access to the folder allows: remove the
  /// store, replace it by an older one, and stop its programs. Folders that all users can write to
  /// are still refused.
  case processGroup
}

extension FolderTrust {
  /// Whether an untrusted user can write to a file.
  ///
  /// A store makes its files with the mode `0600`. A file with another mode comes from elsewhere.
  package func lets(othersWriteTo file: FileStatus) -> Bool {
    guard file.permissions & 0o002 == 0 else { return true }
    guard file.permissions & 0o020 != 0 else { return false }
    return self == .owner || !Self.isOurs(group: file.group)
  }

  /// Whether an untrusted user can write to a folder.
  package func lets(othersWriteInto folder: FileStatus, at path: String) -> Bool {
    lets(othersWriteTo: folder) && !folder.isEnclosed
      && (folder.permissions & 0o002 != 0 || !PrivateGroup.owns(folder, at: path))
  }

  /// Whether only this user and root can enter a folder.
  static func encloses(_ status: FileStatus, at path: String) -> Bool {
    guard status.owner == geteuid() || status.owner == 0 else { return false }
    guard status.permissions & 0o001 == 0 else { return false }
    return status.permissions & 0o010 == 0 || PrivateGroup.owns(status, at: path)
  }

  /// Advice for a folder that is refused.
  package func advice(for status: FileStatus) -> String {
    let isOfGroup = status.permissions & 0o002 == 0 && Self.isOurs(group: status.group)
    return self == .owner && isOfGroup
      ? "run chmod go-w on it, or trust its group with FolderTrust.processGroup"
      : "run chmod go-w on it"
  }

  /// Whether this process is in a group.
  static func isOurs(group: UInt32) -> Bool {
    if group == getegid() { return true }
    // getgroups(2): the first call returns the number of groups, the second call the groups.
    let count = getgroups(0, nil)
    guard count > 0 else { return false }
    var groups = [gid_t](repeating: 0, count: Int(count))
    let found = unsafe getgroups(count, &groups)
    return found > 0 && groups.prefix(Int(found)).contains(group)
  }
}
