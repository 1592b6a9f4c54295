internal import Glibc

/// A marker beside a file, which shows that the file was made and must not be made again.
///
/// A removed key file looks like one that never existed. With a new key in its place, the old
/// sealed data would not open. The file is made first and its marker second, both durably. A
/// process that dies in between leaves a file whose key has sealed nothing, and the next reader
/// makes the marker. So a marker without its file means that the file is gone.
struct MadeMarker: Sendable {
  /// Explains the marker to a person who finds it.
  ///
  /// No code reads the text. `KeyDependents` adds lines that begin with a slash or a hyphen.
  private static let text = """
    The file beside this one, with the same name without ".made", holds keys. If that file is gone,
    put it back from a backup: as long as this marker exists, no new file is made in its place.
    The stores that need it may follow.

    """

  /// The path of the marker.
  let path: String

  /// The marker of the file at `path`.
  init(of path: String) {
    self.path = path + ".made"
  }

  /// Whether the marker exists; a link that leads nowhere counts too.
  func isThere() throws(StorageError) -> Bool {
    try FileStatus.ofEntry(path) != nil
  }

  /// Makes the marker durably if it does not exist.
  func leave() throws(StorageError) {
    guard try !isThere() else { return }
    // Another process may have made the file and not synchronised the folder yet. Without this, the
    // marker could survive a power cut and the file not.
    try Folder.synchronize(FilePath.folder(of: path))
    let text = Array(Self.text.utf8)
    _ = try unsafe DurableFile.createIfAbsent(path, with: text.span.bytes)
  }

  /// Makes the marker of a file that was just read, if that is possible.
  ///
  /// A file without a marker, from an old release or from a backup, may be in a folder that can't
  /// be written to. The file must still be readable there.
  func leaveIfPossible() {
    do throws(StorageError) { try leave() } catch {}
  }
}
