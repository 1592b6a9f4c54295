package import CryptoCore

extension SealedStore {
  /// The clear names of all records that open, and the number of records that don't open or are
  /// missing.
  func listing() throws(StorageError) -> KeyListing {
    guard try keys.forReading() != nil else { return KeyListing(keys: [], unreadable: 0) }
    let census = try census()
    var names: [String] = []
    var unreadable = census.missing
    var absent: [NameHash] = []
    for hash in census.names {
      guard let sealed = try fetch(hash) else {
        absent.append(hash)
        continue
      }
      if try !appendName(of: sealed, to: &names) { unreadable += 1 }
    }
    unreadable += try misnamedCount(among: absent)
    return KeyListing(keys: names, unreadable: unreadable)
  }

  /// The clear names of the given records that exist, and the number of those that don't open.
  package func listing(of hashes: [NameHash]) throws(StorageError) -> KeyListing {
    var names: [String] = []
    var unreadable = 0
    for hash in hashes {
      guard let sealed = try fetch(hash) else { continue }
      if try !appendName(of: sealed, to: &names) { unreadable += 1 }
    }
    return KeyListing(keys: names, unreadable: unreadable)
  }

  /// - Returns: whether the record opens.
  private func appendName(
    of sealed: Sealed, to names: inout [String]
  ) throws(StorageError) -> Bool {
    do throws(StorageError) {
      try open(sealed, nil) { (payload) throws(StorageError) in
        names.append(try Payload.name(payload))
      }
      return true
    } catch {
      guard [.damaged, .unsupported].contains(error.code) else { throw error }
      return false
    }
  }

  /// The record under a hash and the keys current at that moment; nil when there is no record.
  func fetch(_ hash: NameHash) throws(StorageError) -> Sealed? {
    for _ in Attempts() {
      guard let open = try keys.forReading() else { return nil }
      let context = RecordContext(store: open.store, name: hash, authenticationTag: tag)
      let (record, version) = try place.lookup(hash)
      // Under another header the record may be sealed with a key that `open` lacks.
      if version == open.headerVersion {
        return record.map { Sealed(record: $0, keys: open, context: context) }
      }
      try keys.refresh()
    }
    throw StorageError(.busy, "another program kept changing the store's keys; try again")
  }
}
