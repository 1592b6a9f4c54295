/// How a missing store is handled.
extension StoreKeys {
  /// Forbids the place to create anything from now on.
  func makeNothing() throws(StorageError) {
    guard hasHeader else {
      throw StorageError(
        .unsupported,
        "this place keeps no header, so a missing store can't be told from an empty one"
      )
    }
    place.makeNothing()
  }

  /// Throws if the store is missing and must exist.
  func checkAbsence(isAllowed: Bool) throws(StorageError) {
    guard isAllowed, place.allowance != .mustExist else {
      throw (place as? any MadeByCommand)?.missing ?? .missing(place.location)
    }
  }

  /// Throws if the place is read-only; called before a key source is asked, which could make a key.
  func checkMaking() throws(StorageError) {
    guard place.allowance == .readOnly else { return }
    throw StorageError(
      .unavailable,
      "the store does not exist, and a read-only open does not create one; check the path, or create "
        + "the store with write access")
  }

  static let isNew = StorageError(
    .keyUnavailable, "the store is new and has no keys yet; write to the store or open it first")

  static let wasRemoved = StorageError(
    .unavailable,
    "the store was removed during the change, and nothing was saved; restore it from a backup, or "
      + "save again to create a new store")

  static let missingHeader = StorageError(
    .damaged,
    "the store holds data, but its header, which holds the sealed keys, is gone; restore the store from "
      + "a backup. No new key was made")
}
