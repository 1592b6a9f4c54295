/// What a program may do with its stores, and with missing ones.
public enum StoreAccess: Hashable, Sendable {
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

extension RecordPlace {
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

/// A place some of whose values speak of its store alone, so that no other store gets them.
package protocol KeepsOwnValues {
  /// What the names of these values begin with.
  var ownPrefix: String { get }
}

/// A place whose store is made by one explicit call and by no write, since machines share it.
package protocol MadeByCommand {
  /// The error of a missing store, which says how it is made.
  var missing: StorageError { get }
}
