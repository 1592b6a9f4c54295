internal import CryptoCore
public import StorageCore

extension Keyring {
  /// The accounts that have a secret here: those of this service, group and protection.
  ///
  /// Takes a call over the bus for each item of the service. Accounts that differ only in Unicode
  /// normalisation are one member of a Swift set; ``containers()`` has them all.
  ///
  /// - Throws: `StorageError`: `locked`, `noBus`, `noService`, `noCollection`, `timedOut`,
  ///   `cancelled` and the like, when the keyring can't be read.
  public func keys() throws(StorageError) -> Set<String> {
    let service = service
    return try perform { (connection, call) throws(BusFailure) in
      Set(try all(of: service, connection, call).compactMap(Self.account))
    }
  }

  /// The containers of the accounts that have a secret here, in the order of their bytes.
  ///
  /// - Throws: as ``keys()``.
  public func containers() throws(StorageError) -> [Container] {
    let service = service
    let accounts = try perform { (connection, call) throws(BusFailure) in
      try all(of: service, connection, call).compactMap(Self.account)
    }
    let distinct = Dictionary(accounts.map { (Array($0.utf8), $0) }) { first, _ in first }
    return distinct.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { container(for: $1) }
  }

  /// Deletes all secrets of ``keys()``, one after the other, including accounts that have several.
  ///
  /// Items that are sealed in another way, and items of the service without an account, stay.
  ///
  /// - Throws: as ``keys()``; some secrets may then be gone.
  public func empty() throws(StorageError) {
    let service = service
    let removed = Lock<[ObjectPath]>([])
    defer { for path in removed.withLock({ $0 }) { client.signals.note(path, by: client) } }
    try perform { (connection, call) throws(BusFailure) in
      for item in try all(of: service, connection, call) where Self.account(of: item) != nil {
        try connection.remove(item.path, call)
        removed.withLock { $0.append(item.path) }
      }
    }
  }

  private func all(
    of service: String, _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) -> [ItemSnapshot] {
    let protection = protection
    let query = ItemQuery(
      alternatives: [[AttributeName.service: service]], place: .collection(group),
      accepts: { protection.isOf($0) }, subject: "the service")
    return try connection.find(query, call).items
  }

  /// The account of an item, by whatever name.
  static func account(of item: ItemSnapshot) -> String? {
    item.attributes[AttributeName.account] ?? item.attributes[AttributeName.username]
  }
}
