internal import Glibc

internal import class Foundation.FileManager

/// Names sibling files, as which files are made, and removes the siblings that dead writers have left.
///
/// A sibling that was linked is a second name of the file, so removing the file, and with it a key, would
/// leave the content there. Earlier releases made every file as a sibling; this release does so only where
/// the file system can't make files without a name.
package enum LeftOvers {
  /// How old a sibling that was never linked must be, in nanoseconds.
  ///
  /// Its writer may still live, for instance in a container, where process numbers differ.
  private static let age: Int64 = 3600 * 1_000_000_000

  /// The name as which this process makes a file: `<path>.<process>.<number>.new`.
  static func sibling(of path: String) -> String {
    "\(path).\(getpid()).\(UInt32.random(in: 0 ... .max)).new"
  }

  /// Removes siblings that were left when the file at `path` was made; ignores failures.
  ///
  /// A sibling that is a second name of the file is always removed: a writer that is still at work no longer
  /// needs that name. Another sibling is removed when its writer is gone and an hour has passed.
  static func remove(of path: String) {
    let folder = FilePath.folder(of: path)
    let names: [String]
    // Siblings in a folder that can't be listed are kept; files in the folder can still be read.
    do { names = try FileManager.default.contentsOfDirectory(atPath: folder) } catch { return }
    for name in names {
      guard let writer = writer(of: name, besides: FilePath.name(of: path)) else { continue }
      let sibling = folder == "/" ? "/" + name : folder + "/" + name
      // A failure is ignored, for instance on a read-only file system.
      do throws(StorageError) {
        if try isLeftOver(sibling, by: writer, of: path) { unsafe unlink(sibling) }
      } catch {}
    }
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
    _ sibling: String, by writer: pid_t, of path: String
  ) throws(StorageError) -> Bool {
    guard let found = try FileStatus.ofEntry(sibling), found.isRegular, found.owner == geteuid()
    else { return false }
    if let file = try FileStatus.ofEntry(path),
      (file.device, file.inode) == (found.device, found.inode)
    {
      return true
    }
    guard kill(writer, 0) != 0, errno == ESRCH else { return false }
    var now = timespec()
    guard unsafe clock_gettime(CLOCK_REALTIME, &now) == 0 else { return false }
    return Int64(now.tv_sec) &* 1_000_000_000 &- found.modified > age
  }
}
