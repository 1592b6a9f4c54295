internal import CryptoCore
internal import Glibc
internal import StorageCore

/// The empty file in `pending` which says that the index may not name a blob, and its lock.
///
/// Whoever makes, removes or renames a blob holds the lock shared; a sweep holds it exclusively. So
/// the index's entry for a blob does not change during a sweep, and nobody sweeps a blob that is
/// being written. The locks end with the process. A child of fork(2) holds no lock: there the
/// marker does nothing.
///
/// For one thread at a time.
final class PendingMarker: @unchecked Sendable {
  // The writer that owns it hands it from thread to thread, and one thread at a time uses it.
  let id: BlobID
  private let folder: FolderDescriptor
  private let lock: LockFile
  private let process = OwnProcess()

  /// How long a sweep may hold a marker.
  private static let deadline: Duration = .seconds(30)

  private init(_ id: BlobID, _ folder: FolderDescriptor, _ lock: consuming LockFile) {
    self.id = id
    self.folder = folder
    self.lock = lock
  }

  /// Makes the marker of a blob, or takes a share of an existing one.
  ///
  /// - Throws: `StorageError`: `busy` when a sweep takes too long.
  static func share(_ id: BlobID, in place: BlobPlace) throws(StorageError) -> PendingMarker {
    let folder = try place.pending()
    let path = folder.path(of: id.fileName)
    let end = ContinuousClock.now + deadline
    repeat {
      let lock = try LockFile(id.fileName, in: folder)
      try place.check(try lock.file.status(), path)
      // A sweep removes the file: a lock on a removed file excludes nobody.
      if try lock.file.tryShare(byte: 0) {
        if try lock.isInPlace() { return PendingMarker(id, folder, lock) }
      } else {
        usleep(1_000)  // whoever sweeps has it for a moment, and fcntl(2) has no deadline
      }
    } while ContinuousClock.now < end
    throw StorageError(
      .busy, "another process has been cleaning the folder for too long; try again", path: path)
  }

  /// Takes the marker of a blob exclusively; makes a missing one.
  ///
  /// - Returns: nil when somebody else holds it until the deadline.
  static func claim(
    _ id: BlobID, in place: BlobPlace, waiting deadline: Duration = .zero
  ) throws(StorageError) -> PendingMarker? {
    let folder = try place.pending()
    if let status = try folder.status(of: id.fileName) {
      // Anything else in its place is no marker, and is left alone.
      guard status.isRegular, status.owner == geteuid() else { return nil }
    }
    let lock = try LockFile(id.fileName, in: folder)
    guard try lock.file.lock(byte: 0, until: .now + deadline), try lock.isInPlace() else {
      return nil
    }
    return PendingMarker(id, folder, lock)
  }

  /// Removes the marker, if nobody else has it and if `isDecided` then says that the blob is gone
  /// or that the index names it.
  ///
  /// The next sweep looks at markers that stay, so no failure matters.
  func end(if isDecided: () throws(StorageError) -> Bool) {
    guard process.isCurrent else { return }
    do throws(StorageError) {
      guard try lock.file.lock(byte: 0, until: .now), try isDecided() else { return }
      folder.discard(id.fileName)
    } catch {}
  }
}
