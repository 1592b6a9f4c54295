/// The name of a stored property: any text of 1 to 1,024 UTF-8 bytes.
///
/// Names are compared by their bytes: two that differ only in Unicode normalisation are two names.
public typealias StoreKey = String

/// Takes the errors of a storage's calls that can't throw.
///
/// The error is a ``StorageError``.
public typealias StorageErrorClosure = @Sendable (any Error) -> Void

/// A place for typed, named, sealed values.
///
/// ``DelegatedStorage`` is the implementation: give it a ``StorageDelegate`` of your own for a new
/// place. Conform a type of yours by forwarding ``store`` and ``errorClosure`` to one.
/// Any thread, task or actor may call, many at once. Calls are synchronous: they take as long as
/// the place does.
public protocol Storage: AnyObject, Sendable {
  /// The sealed store that all calls go through.
  var store: SealedStore { get }

  /// Takes the errors of calls that can't throw; when nil, ``StorageDiagnostics`` does.
  ///
  /// It is called while no lock of the package is held, and may use the storage.
  var errorClosure: StorageErrorClosure? { get set }
}

/// A storage with one instance that a program shares, which a family of wrappers uses.
public protocol StandardStorage: Storage {
  /// The shared instance.
  static var standard: Self { get }
}

extension Storage {
  /// Hands an error to the error closure, or to the diagnostics when there is none.
  @usableFromInline
  package func report(_ error: StorageError) {
    guard let errorClosure else { return StorageDiagnostics.report(error) }
    DeferredReports.deliver(error) { errorClosure($0) }
  }

  /// Runs `body`; reports its error and returns nil when it throws.
  func reporting<Result>(_ body: () throws(StorageError) -> Result?) -> Result? {
    do throws(StorageError) {
      return try body()
    } catch {
      report(error)
      return nil
    }
  }
}

// MARK: - Calls that throw

extension Storage {
  /// The value of a key, or nil when there is none.
  ///
  /// - Parameters:
  ///   - type: the type that was stored. A `Codable` type without a form of its own is read as JSON.
  ///   - key: the key.
  /// - Returns: the value, or nil.
  /// - Throws: `StorageError`: `typeMismatch`, `damaged`, or why the store can't be read.
  public func load<Value>(
    _ type: Value.Type = Value.self, forKey key: StoreKey
  ) throws(StorageError) -> Value? {
    try store.read(store.name(key), ValueCoder<Value>.automatic())
  }

  /// Stores a value, durably where the place is durable, before it returns; nil removes it.
  ///
  /// - Throws: `StorageError`; the old value is then still there, except with `outcomeUnknown`.
  public func save<Value>(_ value: Value?, forKey key: StoreKey) throws(StorageError) {
    guard let value else { return try delete(forKey: key) }
    try store.write(value, store.name(key), ValueCoder<Value>.automatic())
  }

  /// Stores a value if the key has none, in one atomic step.
  ///
  /// - Returns: whether it was stored.
  /// - Throws: `StorageError`; nothing is then stored, except with `outcomeUnknown`.
  @discardableResult
  public func saveIfAbsent<Value>(
    _ value: Value, forKey key: StoreKey
  ) throws(StorageError) -> Bool {
    try store.write(value, store.name(key), ValueCoder<Value>.automatic(), if: .absent)
  }

  /// Changes a value in one atomic step, across threads and processes.
  ///
  /// - Parameters:
  ///   - type: the type of the value.
  ///   - key: the key.
  ///   - body: is given the value, or nil when there is none, and changes it; nil removes it. Runs
  ///     outside all locks, and again when somebody else wrote meanwhile.
  /// - Returns: what `body` returned the last time.
  /// - Throws: what `body` throws, or `StorageError`: `busy` after 30 s of others' writes,
  ///   `unsupported` where the place can't compare. The old value is then still there.
  @discardableResult
  public func update<Value, Result>(
    _ type: Value.Type = Value.self, forKey key: StoreKey, _ body: (inout Value?) throws -> Result
  ) throws -> Result {
    try store.update(store.name(key), ValueCoder<Value>.automatic(), body)
  }

  /// Removes a value, if there is one.
  ///
  /// - Throws: `StorageError`; the value is then still there, except with `outcomeUnknown`.
  public func delete(forKey key: StoreKey) throws(StorageError) {
    try store.remove(store.name(key))
  }

  /// Whether a key has a value, of whatever type.
  ///
  /// - Throws: `StorageError` when that can't be known. A damaged value is a value.
  public func contains(_ key: StoreKey) throws(StorageError) -> Bool {
    try store.fetch(store.name(key)) != nil
  }

  /// The keys that have a value, in any order.
  ///
  /// Opens every record.
  ///
  /// - Throws: `StorageError`: `unsupported` where the place can't list, `damaged` when a record
  ///   can't be opened, also one of another authentication tag; see ``listing()``.
  public func keys() throws(StorageError) -> [StoreKey] {
    let listing = try listing()
    guard listing.unreadable == 0 else {
      throw StorageError(
        .damaged,
        "\(listing.unreadable) of the records are damaged or of another authentication tag; "
          + "listing() gives the keys of the others")
    }
    return listing.keys
  }

  /// The keys whose record can be opened, and how many there are besides.
  ///
  /// - Throws: `StorageError`: `unsupported` where the place can't list, or why the store can't be
  ///   read.
  public func listing() throws(StorageError) -> KeyListing {
    try store.listing()
  }

  /// Removes all values, also those that can't be read.
  ///
  /// The store keeps its keys. All go in one atomic step where the delegate is a
  /// ``KeysetDelegate``; elsewhere one after the other. A value that somebody else saves meanwhile
  /// may stay.
  ///
  /// - Throws: `StorageError`: `unsupported` where the place can't list, `damaged` where one of its
  ///   names does not lead to its record, as in a damaged vault. All values are then still there,
  ///   except with `outcomeUnknown` and where they go one after the other.
  public func removeAll() throws(StorageError) {
    try store.removeAll()
  }
}
