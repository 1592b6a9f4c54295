public import StorageCore

/// Something that names items of the keyring by their attributes.
///
/// A type that has ``attributes`` and ``options`` gets the calls below. They go over the session's
/// bus, from any thread.
public protocol KeyringQueryable: BlockingCalls {
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
}
