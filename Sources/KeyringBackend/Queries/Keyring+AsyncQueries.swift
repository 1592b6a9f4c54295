public import StorageCore

// The same calls without blocking a thread of Swift concurrency. When the task is cancelled, the
// call over the bus ends with `cancelled`.

extension Keyring {
  /// As ``search(for:with:)``, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``search(for:with:)``.
  public static func searchAsync(
    for attributes: KeyringAttributes, with options: KeyringOptions = .matchFirst
  ) async throws(StorageError) -> [KeyringItem] {
    try await Blocking.run { () throws(StorageError) in
      try search(for: attributes, with: options)
    }
  }

  /// As ``modify(_:for:)``, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``modify(_:for:)``.
  public static func modifyAsync(
    _ changes: KeyringAttributes, for queryable: some KeyringQueryable
  ) async throws(StorageError) {
    let (attributes, options) = (queryable.attributes, queryable.options)
    try await Blocking.run { () throws(StorageError) in
      try ItemQueries().modify(changes, attributes, options)
    }
  }

  /// As ``remove(_:)``, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``remove(_:)``.
  @discardableResult
  public static func removeAsync(
    _ queryable: some KeyringQueryable
  ) async throws(StorageError) -> Int {
    let (attributes, options) = (queryable.attributes, queryable.options)
    return try await Blocking.run { () throws(StorageError) in
      try ItemQueries().remove(attributes, options)
    }
  }

  /// As ``read(_:options:)``, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``read(_:options:)``.
  public static func readAsync(
    _ query: [String: String], options: KeyringOptions = .matchFirst
  ) async throws(StorageError) -> KeyringItem? {
    try await Blocking.run { () throws(StorageError) in try read(query, options: options) }
  }

  /// As ``update(_:using:options:)``, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``update(_:using:options:)``.
  public static func updateAsync(
    _ changes: KeyringAttributes, using query: [String: String],
    options: KeyringOptions = .matchFirst
  ) async throws(StorageError) {
    try await Blocking.run { () throws(StorageError) in
      try update(changes, using: query, options: options)
    }
  }

  /// As ``delete(_:options:)``, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``delete(_:options:)``.
  @discardableResult
  public static func deleteAsync(
    _ query: [String: String], options: KeyringOptions = .matchFirst
  ) async throws(StorageError) -> Bool {
    try await Blocking.run { () throws(StorageError) in try delete(query, options: options) }
  }
}
