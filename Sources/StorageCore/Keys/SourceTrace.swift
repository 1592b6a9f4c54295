internal import Glibc

/// What is seen of a key source without asking it: two that are equal mean that it would answer as before.
///
/// A number, made with a seed of this process, that tells nothing of what the source holds.
package enum SourceTrace {
  /// A time since which a file must have been unchanged, in nanoseconds.
  ///
  /// The file system's clock goes in steps: a file that is rewritten in place within one step looks as it
  /// did before. 100 ms is many such steps.
  private static let settling: Int64 = 100_000_000

  /// That of a file, which need not be there, its folder's owner and permissions among it.
  ///
  /// Two or three calls of stat(2).
  ///
  /// - Returns: nil when the file was changed just now, so that the next change might not be seen.
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
    // Not its times, which change with every other file in it.
    hasher.combine(folder?.inode)
    hasher.combine(folder?.device)
    hasher.combine(folder?.owner)
    hasher.combine(folder?.group)
    hasher.combine(folder?.permissions)
    return hasher.finalize()
  }

  /// That of an environment variable.
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
      // Why it can't be looked at is what there is to see of it.
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
