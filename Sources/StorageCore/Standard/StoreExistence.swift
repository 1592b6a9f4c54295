/// Whether a store is made where there is none.
public enum StoreExistence: Hashable, Sendable {
  /// A store that is missing is made.
  case madeIfMissing
  /// A store that is missing is the error `unavailable`, now and from then on: a first start is not told
  /// from a disk that was not mounted, nor from a store that somebody deleted.
  case mustExist
}

extension SecureStorage {
  /// What a program's standard storages may do with what they find, and with what they do not find.
  public enum Access: Hashable, Sendable {
    /// Reading and writing; a store that is missing is made at the first write.
    case readWrite
    /// Reading and writing of stores that are there; one that is missing is the error `unavailable`, of
    /// reads as well, and is never made. ``StoreExistence/mustExist`` says so of one storage.
    case mustExist
    /// Reading alone: every write is the error `readOnly`, and nothing is made.
    case readOnly
  }
}

/// A place that knows what a program may do there, and can be told to make nothing.
package protocol PlaceDelegate: KeysetDelegate {
  /// What may be done.
  var allowance: SecureStorage.Access { get }
  /// From now on makes no store where there is none, nor a folder or a file for one.
  func makeNothing()
}

extension PlaceDelegate {
  /// Refuses a write where nothing may be written.
  package func requireWritable() throws(StorageError) {
    guard allowance == .readOnly else { return }
    throw StorageError(.readOnly, "the storage was opened read-only", path: location)
  }
}

extension StorageError {
  /// Of a store that has to be there.
  package static func missing(_ path: String?) -> StorageError {
    StorageError(
      .unavailable,
      "the store does not exist, and the program requires that it does, so no store was made: "
        + "check that the path is right and that its disk is mounted, or restore a backup. To make a "
        + "new store, open it once without that requirement", path: path)
  }
}
