/// What becomes of a store that is not there.
extension StoreKeys {
  private var place: (any PlaceDelegate)? { delegate as? any PlaceDelegate }

  /// Has the place make nothing from now on.
  func makeNothing() throws(StorageError) {
    guard delegate != nil else {
      throw StorageError(
        .unsupported,
        "this place keeps no header, so a missing store can't be told from an empty one")
    }
    place?.makeNothing()
  }

  /// Refuses that a store is not there, where it has to be.
  func checkAbsence(isAllowed: Bool) throws(StorageError) {
    guard isAllowed, place?.allowance != .mustExist else { throw .missing(delegate?.location) }
  }

  /// Refuses to make a store where nothing may be written; before a key source is asked, which may make a
  /// key.
  func checkMaking() throws(StorageError) {
    guard place?.allowance == .readOnly else { return }
    throw StorageError(
      .unavailable,
      "the store does not exist, and a read-only open does not create one")
  }

  static let isNew = StorageError(
    .keyUnavailable, "the store is new and has no keys yet; write to it, or open it, first")

  static let wasRemoved = StorageError(
    .unavailable,
    "the store was removed meanwhile, and nothing was saved; restore it from a backup, or save "
      + "again to begin a new one")

  static let missingHeader = StorageError(
    .damaged,
    "the store holds data, but its header with the key slots is gone; restore the store from a "
      + "backup. No new key was made")
}
