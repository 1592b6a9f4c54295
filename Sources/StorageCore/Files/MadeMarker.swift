internal import Glibc

/// A file beside another one which says that the other one was made, and is not to be made anew.
///
/// A key file that was removed looks like one that never was, and a fresh key in its place would
/// part what is sealed from now on from what was sealed before. The file comes first and its marker
/// second, both durable: whoever dies in between leaves a file under which nothing was sealed and
/// which the next reader marks. So a marker without its file means that the file is gone.
struct MadeMarker: Sendable {
  /// For whoever finds the file and wonders; nothing reads it.
  private static let text = """
    The file beside this one, of the same name without ".made", holds keys. If it is gone, put it
    back from a backup: as long as this marker is here, no other one is made in its place.

    """

  /// The path of the marker.
  let path: String

  /// The marker of the file at `path`.
  init(of path: String) {
    self.path = path + ".made"
  }

  /// Whether there is anything in the marker's place, be it a link that leads nowhere.
  func isThere() throws(StorageError) -> Bool {
    try FileStatus.ofEntry(path) != nil
  }

  /// Leaves the marker, durably, if there is none.
  func leave() throws(StorageError) {
    guard try !isThere() else { return }
    // Whoever made the file may not have come to this yet, and the marker must not outlive it.
    try Folder.synchronize(FilePath.folder(of: path))
    let text = Array(Self.text.utf8)
    _ = try unsafe DurableFile.createIfAbsent(path, with: text.span.bytes)
  }

  /// Leaves the marker of a file that was just read, where that can be done.
  ///
  /// A file that came without one, from a version that left none or from a backup, may lie where
  /// nothing can be written. That is no reason not to read it.
  func leaveIfPossible() {
    do throws(StorageError) { try leave() } catch {}
  }
}
