internal import Glibc

internal import class Foundation.FileManager

/// The siblings by which files are made, and what writers that died have left of them.
///
/// A sibling that was linked is a second name of the file: whoever removes the file, or a key with it,
/// would leave it there. Earlier releases made every file by way of one; this one does only
/// where the file system can't do without.
package enum LeftOvers {
  /// How old what was never linked has to be: its writer may live where its number means nothing here,
  /// as in a container.
  private static let age: Int64 = 3600 * 1_000_000_000

  /// The name by which this process makes a file: `<path>.<process>.<number>.new`.
  static func sibling(of path: String) -> String {
    "\(path).\(getpid()).\(UInt32.random(in: 0 ... .max)).new"
  }

  /// Removes what was left of the making of the file at `path`, as far as that can be known and done.
  ///
  /// A second name of the file goes in any case: who is just making it is past the point where that name
  /// is needed. What is none goes when its writer is gone and an hour has passed.
  static func remove(of path: String) {
    let folder = FilePath.folder(of: path)
    let names: [String]
    // A folder that can't be listed can't be tidied; what is in it can be read all the same.
    do { names = try FileManager.default.contentsOfDirectory(atPath: folder) } catch { return }
    for name in names {
      guard let writer = writer(of: name, besides: FilePath.name(of: path)) else { continue }
      let sibling = folder == "/" ? "/" + name : folder + "/" + name
      // Best effort, as on a medium that can't be written to.
      do throws(StorageError) {
        if try isLeftOver(sibling, by: writer, of: path) { unsafe unlink(sibling) }
      } catch {}
    }
  }

  /// The process that made a file of this name; nil for another's name.
  private static func writer(of name: String, besides file: String) -> pid_t? {
    let prefix = (file + ".").utf8
    guard name.utf8.starts(with: prefix) else { return nil }
    let parts = Substring(name.utf8.dropFirst(prefix.count)).split(
      separator: ".", omittingEmptySubsequences: false)
    // As sibling(of:) writes them, and in no other way.
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
