internal import Glibc

/// Names the sibling files from which files are made, and removes siblings that dead writers have
/// left.
///
/// A sibling that was linked is a second name of the file: if a user removes the file, and so a
/// key, the content would stay. Earlier releases made every file as a sibling; this release does so
/// only where
/// the file system can't make files without a name.
package enum LeftOvers {
  /// How old a sibling that was never linked must be, in nanoseconds.
  ///
  /// Its writer may still live, for instance in a container, where process numbers differ.
  private static let age: Int64 = 3600 * 1_000_000_000

  /// The name of the sibling that this process makes for a file: `<name>.<process>.<number>.new`.
  static func sibling(of name: String) -> String {
    "\(name).\(getpid()).\(UInt32.random(in: 0 ... .max)).new"
  }

  /// Removes siblings that were left when the file at `path` was made; ignores failures.
  ///
  /// A sibling that is a second name of the file is always removed: a writer that is still at work
  /// no longer needs that name. Another sibling is removed when its writer is gone and an hour has
  /// passed.
  static func remove(of path: String) {
    let file = FilePath.name(of: path)
    // A failure is ignored: a folder that can't be listed keeps its siblings, and so does a
    // read-only one.
    do throws(StorageError) {
      guard let folder = try FolderDescriptor.open(FilePath.folder(of: path)) else { return }
      for name in try folder.names() {
        guard let writer = writer(of: name, besides: file) else { continue }
        if try isLeftOver(name, by: writer, of: file, in: folder) { folder.discard(name) }
      }
    } catch {}
  }

  /// The process that made a sibling of this name; nil for a name that is not of a sibling.
  private static func writer(of name: String, besides file: String) -> pid_t? {
    let prefix = (file + ".").utf8
    guard name.utf8.starts(with: prefix) else { return nil }
    let parts = Substring(name.utf8.dropFirst(prefix.count)).split(
      separator: ".", omittingEmptySubsequences: false)
    // Exactly the form that sibling(of:) writes.
    guard parts.count == 3, parts[2] == "new", let process = pid_t(parts[0]), process > 0,
      let number = UInt32(parts[1]), "\(process).\(number)" == "\(parts[0]).\(parts[1])"
    else { return nil }
    return process
  }

  private static func isLeftOver(
    _ sibling: String, by writer: pid_t, of file: String, in folder: FolderDescriptor
  ) throws(StorageError) -> Bool {
    guard let found = try folder.status(of: sibling), found.isRegular, found.owner == geteuid()
    else { return false }
    if try folder.status(of: file)?.identity == found.identity { return true }
    guard kill(writer, 0) != 0, errno == ESRCH else { return false }
    var now = timespec()
    guard unsafe clock_gettime(CLOCK_REALTIME, &now) == 0 else { return false }
    return Int64(now.tv_sec) &* 1_000_000_000 &- found.modified > age
  }
}
