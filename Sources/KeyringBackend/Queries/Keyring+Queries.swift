public import StorageCore

// Queries of all items of the session's keyring, whoever made them. Records and keys of sealed
// stores are not among them.

extension Keyring {
  private static var queries: ItemQueries { ItemQueries() }

  /// The items that have all of some attributes, in the order in which they were made.
  ///
  /// Takes three calls over the bus and more for each item. KeePassXC finds nothing by no
  /// attributes.
  ///
  /// - Parameters:
  ///   - attributes: what the items have, among others.
  ///   - options: where they are, how many are meant, and what of them is read.
  /// - Returns: the items; none only when all collections were seen to be unlocked, or to show
  ///   their items.
  /// - Throws: `StorageError`: `locked`, `noBus`, `noService`, `noCollection`, `timedOut`,
  ///   `cancelled`, `dismissed`, `invalid` for a query by a secret or with a zero character, and
  ///   the like.
  public static func search(
    for attributes: KeyringAttributes, with options: KeyringOptions = .matchFirst
  ) throws(StorageError) -> [KeyringItem] {
    try queries.search(attributes, options)
  }

  /// Changes the item that is meant, or makes it when there is none.
  ///
  /// Attributes, the label and the secret are a step each, in this order: what fails leaves those
  /// before it changed. Of the account all names that the item has are changed.
  ///
  /// - Parameters:
  ///   - changes: what it is to have besides what it has; a new one also what it is found by, and
  ///     it needs a secret.
  ///   - queryable: which item. With the option to match all, all of them are changed.
  /// - Throws: `StorageError`: as ``search(for:with:)``, and `duplicate` when several items are
  ///   found, of which none is changed; `invalid` for dates, for a new item without a secret, for a
  ///   query without an attribute, and for what the service refuses, as KeePassXC the attribute
  ///   `Password` and values with `{REF:`; `typeMismatch` for the secret,
  ///   the service and the account of a sealed item; `outcomeUnknown`.
  public static func modify(
    _ changes: KeyringAttributes, for queryable: some KeyringQueryable
  ) throws(StorageError) {
    try queries.modify(changes, queryable.attributes, queryable.options)
  }

  /// Deletes the item that is meant, if there is one.
  ///
  /// - Parameter queryable: which item. With the option to match all, all of them are deleted.
  /// - Returns: how many items were deleted.
  /// - Throws: `StorageError`: as ``modify(_:for:)``.
  @discardableResult
  public static func remove(_ queryable: some KeyringQueryable) throws(StorageError) -> Int {
    try queries.remove(queryable.attributes, queryable.options)
  }

  // MARK: - By a dictionary

  /// The item that has some attributes, by the names that the service has for them.
  ///
  ///     let item = try Keyring.read(["service": "github.token"])
  ///
  /// - Parameters:
  ///   - query: what the item has, among others.
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
  ///   - query: what the item has, among others.
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
  ///   - query: what the item has, among others.
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
