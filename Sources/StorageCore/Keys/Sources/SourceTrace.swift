internal import Glibc

/// A fingerprint of a key source, taken without asking the source.
///
/// Two equal fingerprints mean that the source would give the same answer again. A fingerprint is a
/// number made with a random seed of this process, and tells nothing about the source's key.
package enum SourceTrace {
  /// How long a file must have been unchanged, in nanoseconds.
  ///
  /// The file system's clock advances in steps: a file that is rewritten in place within one step
  /// looks unchanged. 100 ms is many such steps.
  private static let settling: Int64 = 100_000_000

  /// The fingerprint of a file, which need not exist; includes the owner and permissions of its
  /// folder.
  ///
  /// Costs two or three calls of stat(2).
  ///
  /// - Returns: nil when the file was changed so recently that the next change might not be seen.
  package static func file(_ path: String) -> Int? {
    var hasher = Hasher()
    let entry = status(&hasher) { () throws(StorageError) in try FileStatus.ofEntry(path) }
    var changes = [entry?.changed]
    if entry?.isLink == true {
      let target = status(&hasher) { () throws(StorageError) in try FileStatus.of(path) }
      changes.append(target?.changed)
    }
    let limit = now - settling
    guard changes.allSatisfy({ $0.map { $0 < limit } ?? true }) else { return nil }
    var ignored = Hasher()
    let folder = status(&ignored) { () throws(StorageError) in
      try FileStatus.of(FilePath.folder(of: path))
    }
    // Without the folder's times, which change with every other file in the folder.
    hasher.combine(folder?.inode)
    hasher.combine(folder?.device)
    hasher.combine(folder?.owner)
    hasher.combine(folder?.group)
    hasher.combine(folder?.permissions)
    return hasher.finalize()
  }

  /// The fingerprint of an environment variable.
  static func variable(_ name: String) -> Int {
    var hasher = Hasher()
    if let value = unsafe getenv(name) {
      hasher.combine(true)
      unsafe hasher.combine(bytes: UnsafeRawBufferPointer(start: value, count: strlen(value)))
    }
    return hasher.finalize()
  }

  private static func status(
    _ hasher: inout Hasher, _ look: () throws(StorageError) -> FileStatus?
  ) -> FileStatus? {
    do throws(StorageError) {
      let status = try look()
      hasher.combine(status)
      return status
    } catch {
      // The reason why stat(2) fails is part of the fingerprint.
      hasher.combine(error.number)
      return nil
    }
  }

  private static var now: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}
