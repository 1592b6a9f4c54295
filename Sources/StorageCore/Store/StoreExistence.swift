/// Whether opening a storage creates a missing store.
public enum StoreExistence: Hashable, Sendable {
  /// A missing store is created.
  case madeIfMissing
  /// A missing store is the error `unavailable`, now and from then on.
  ///
  /// Use this where a missing store may mean a disk that is not mounted or a store that somebody
  /// deleted: nothing tells these from a first start.
  case mustExist
}

extension SecureStorage {
  /// What a program's standard storages may do with their stores, and with missing ones.
  public enum Access: Hashable, Sendable {
    /// Reading and writing; a missing store is created at the first write.
    case readWrite
    /// Reading and writing of existing stores; a missing store is never created.
    ///
    /// With a missing store, reads and writes are the error `unavailable`.
    /// ``StoreExistence/mustExist`` does the same for one storage.
    case mustExist
    /// Reading only: every write is the error `readOnly`, and nothing is created.
    case readOnly
  }
}

/// A place that knows what a program may do there, and can be told to create nothing.
package protocol PlaceDelegate: KeysetDelegate {
  /// What the program may do.
  var allowance: SecureStorage.Access { get }
  /// From now on creates no missing store, and no folder or file for one.
  func makeNothing()
}

extension PlaceDelegate {
  /// Throws `readOnly` if the program may not write here.
  package func requireWritable() throws(StorageError) {
    guard allowance == .readOnly else { return }
    throw StorageError(
      .readOnly, "the storage was opened read-only; open it with write access to change it",
      path: location)
  }
}

extension StorageError {
  /// The error for a missing store that must exist.
  package static func missing(_ path: String?) -> StorageError {
    StorageError(
      .unavailable,
      "the store does not exist, and the program requires it to exist, so none was created. Check "
        + "that the path is right and its disk is mounted, or restore a backup. To create a new store, "
        + "open it once with a program that does not use .mustExist", path: path)
  }
}
