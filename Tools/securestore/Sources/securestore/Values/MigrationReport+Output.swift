internal import StorageCore

extension MigrationReport {
  /// Fails the command if values stayed in the other store.
  func requireAll() throws {
    var left: [String] = []
    if unreadable > 0 {
      left.append(KeyListing.unreadable(unreadable, "value") + " of the other store")
    }
    if !conflicts.isEmpty {
      left.append(
        "both stores keep their own value of \(conflicts.joined(separator: ", ")); --overwrite takes "
          + "the values of the other store")
    }
    guard !left.isEmpty else { return }
    throw Failure(unreadable > 0 ? .damaged : .exists, left.joined(separator: "; "))
  }
}
