public import StorageCore

// Queries of all items of the session's keyring, whichever program made them. Records and keys of
// sealed stores are left out.

extension Keyring {
  private static var queries: ItemQueries { ItemQueries() }

  /// The items that have all of some attributes, in the order in which they were made.
  ///
  /// Takes three calls over the bus and more for each item. KeePassXC finds nothing if no
  /// attributes are given.
  ///
  /// - Parameters:
  ///   - attributes: attributes that the items have, among others.
  ///   - options: where to look, how many items to return, and what to read of them.
  /// - Returns: the items; an empty array only when all collections were seen to be unlocked, or to
  ///   show their items.
  /// - Throws: `StorageError`: `locked`, `noBus`, `noService`, `noCollection`, `timedOut`,
  ///   `cancelled`, `dismissed`, `invalid` for a query by a secret or with a zero character, and
  ///   the like.
  public static func search(
    for attributes: KeyringAttributes, with options: KeyringOptions = .matchFirst
  ) throws(StorageError) -> [KeyringItem] {
    try queries.search(attributes, options)
  }

  /// Changes the item that the query finds, or makes one when there is none.
  ///
  /// Attributes, the label and the secret are a step each, in this order: a failed step leaves the
  /// earlier steps done. If the item has the account under several names, all are changed.
  ///
  /// - Parameters:
  ///   - changes: the attributes to set; others stay. A new item also gets the attributes of the
  ///     query, and it needs a secret.
  ///   - queryable: the query. With the option to match all, all found items are changed.
  /// - Throws: `StorageError`: as ``search(for:with:)``, and `duplicate` when several items are
  ///   found: none is then changed; `invalid` for dates, for a new item without a secret, for a
  ///   query without an attribute, and for anything that the service refuses (KeePassXC refuses the
  ///   attribute `Password` and values with `{REF:`); `typeMismatch` for the secret,
  ///   the service and the account of a sealed item; `outcomeUnknown`.
  public static func modify(
    _ changes: KeyringAttributes, for queryable: some KeyringQueryable
  ) throws(StorageError) {
    try queries.modify(changes, queryable.attributes, queryable.options)
  }

  /// Deletes the item that the query finds, if there is one.
  ///
  /// - Parameter queryable: the query. With the option to match all, all found items are deleted.
  /// - Returns: how many items were deleted.
  /// - Throws: `StorageError`: as ``modify(_:for:)``.
  @discardableResult
  public static func remove(_ queryable: some KeyringQueryable) throws(StorageError) -> Int {
    try queries.remove(queryable.attributes, queryable.options)
  }

  // MARK: - By a dictionary

  /// The item that has some attributes, given by the service's names for them.
  ///
  ///     let item = try Keyring.read(["service": "github.token"])
  ///
  /// - Parameters:
  ///   - query: attributes that the item has, among others.
  ///   - options: as ``search(for:with:)``.
  /// - Returns: the item that was made first, or nil when there is none.
  /// - Throws: `StorageError`: as ``search(for:with:)``.
  public static func read(
    _ query: [String: String], options: KeyringOptions = .matchFirst
  ) throws(StorageError) -> KeyringItem? {
    try queries.search(KeyringAttributes(query), options).first
  }

  /// Changes the item that has some attributes, or makes it when there is none.
  ///
  ///     try Keyring.update([.account("me"), .password(text)], using: ["service": "github.token"])
  ///
  /// - Parameters:
  ///   - changes: as ``modify(_:for:)``.
  ///   - query: attributes that the item has, among others.
  ///   - options: how; see ``KeyringOption``.
  /// - Throws: `StorageError`: as ``modify(_:for:)``.
  public static func update(
    _ changes: KeyringAttributes, using query: [String: String],
    options: KeyringOptions = .matchFirst
  ) throws(StorageError) {
    try queries.modify(changes, KeyringAttributes(query), options)
  }

  /// Deletes the item that has some attributes, if there is one.
  ///
  /// - Parameters:
  ///   - query: attributes that the item has, among others.
  ///   - options: how; see ``KeyringOption``.
  /// - Returns: whether there was one.
  /// - Throws: `StorageError`: as ``modify(_:for:)``.
  @discardableResult
  public static func delete(
    _ query: [String: String], options: KeyringOptions = .matchFirst
  ) throws(StorageError) -> Bool {
    try queries.remove(KeyringAttributes(query), options) > 0
  }
}
