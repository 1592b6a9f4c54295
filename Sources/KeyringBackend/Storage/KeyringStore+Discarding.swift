internal import StorageCore

extension KeyringStore {
  /// Deletes all items of the store, the header last, and checks that they are gone.
  func removeAll(_ connection: BusConnection, _ call: Call) throws(BusFailure) {
    let group = try group(connection, call)
    let headers = try connection.find(
      item.headerAttributes, in: group, with: item.storeAttributes, call)
    let items = try connection.find(item.storeAttributes, in: group, call)
    for path in items.filter({ !headers.contains($0) }) + headers {
      guard let collection = path.collection else {
        throw BusConnection.malformed("SearchItems")
      }
      try connection.ensureUnlocked(collection, call)
      try remove(path, item.storeAttributes, in: collection, connection, call)
    }
    note(nil)
  }
}
