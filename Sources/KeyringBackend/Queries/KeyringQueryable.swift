public import StorageCore

/// Something that names items of the keyring by their attributes.
///
/// A type that has ``attributes`` and ``options`` gets the calls below. They go over the session's
/// bus, from any thread.
public protocol KeyringQueryable {
  /// Attributes that the items have, among others.
  var attributes: KeyringAttributes { get }
  /// How queries are answered; ``Swift/Set/matchFirst`` unless said otherwise.
  var options: KeyringOptions { get }
}

extension KeyringQueryable {
  /// The item that was made first, with its secret and its attributes.
  public var options: KeyringOptions { .matchFirst }

  private var queries: ItemQueries {
    (self as? any ItemQuerying)?.itemQueries ?? ItemQueries()
  }

  /// The item, or nil when there is none; if there are several, the one that was made first.
  ///
  /// - Throws: `StorageError`, as ``Keyring/search(for:with:)``.
  public var item: KeyringItem? {
    get throws(StorageError) { try queries.search(attributes, options).first }
  }

  /// All items, in the order in which they were made.
  ///
  /// - Throws: `StorageError`, as ``Keyring/search(for:with:)``.
  public var items: [KeyringItem] {
    get throws(StorageError) {
      try queries.search(
        attributes, options.subtracting([.matchLimit(.first)]).union([.matchLimit(.all)]))
    }
  }

  /// Changes the item, or makes it when there is none.
  ///
  /// - Parameter attributes: the attributes to set; others stay.
  /// - Throws: `StorageError`, as ``Keyring/modify(_:for:)``.
  public func update(_ attributes: KeyringAttribute...) throws(StorageError) {
    try queries.modify(KeyringAttributes(attributes), self.attributes, options)
  }

  /// Deletes the item, if there is one.
  ///
  /// - Returns: how many items were deleted.
  /// - Throws: `StorageError`, as ``Keyring/remove(_:)``.
  @discardableResult
  public func delete() throws(StorageError) -> Int {
    try queries.remove(attributes, options)
  }

  // MARK: - Async

  /// As ``item``, without blocking a thread of Swift concurrency.
  ///
  /// When the task is cancelled, the call ends with `cancelled`; the same holds for all async calls
  /// here.
  ///
  /// - Throws: as ``item``.
  public func itemAsync() async throws(StorageError) -> KeyringItem? {
    let (queries, attributes, options) = (queries, attributes, options)
    return try await Blocking.run { () throws(StorageError) in
      try queries.search(attributes, options).first
    }
  }

  /// As ``items``, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``items``.
  public func itemsAsync() async throws(StorageError) -> [KeyringItem] {
    let (queries, attributes) = (queries, attributes)
    let options = options.subtracting([.matchLimit(.first)]).union([.matchLimit(.all)])
    return try await Blocking.run { () throws(StorageError) in
      try queries.search(attributes, options)
    }
  }

  /// As ``update(_:)``, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``update(_:)``.
  public func updateAsync(_ changes: KeyringAttribute...) async throws(StorageError) {
    let (queries, attributes, options) = (queries, attributes, options)
    try await Blocking.run { () throws(StorageError) in
      try queries.modify(KeyringAttributes(changes), attributes, options)
    }
  }

  /// As ``delete()``, without blocking a thread of Swift concurrency.
  ///
  /// - Returns: how many items were deleted.
  /// - Throws: as ``delete()``.
  @discardableResult
  public func deleteAsync() async throws(StorageError) -> Int {
    let (queries, attributes, options) = (queries, attributes, options)
    return try await Blocking.run { () throws(StorageError) in
      try queries.remove(attributes, options)
    }
  }
}
