/// Receives the errors of a storage's calls that can't throw.
///
/// The error is always a ``StorageError``.
public typealias StorageErrorClosure = @Sendable (any Error) -> Void

/// A place that stores typed values, sealed, under names.
///
/// ``DelegatedStorage`` implements this protocol: for a new place, give it your own
/// ``StorageDelegate``. To conform your own type, forward ``store`` and ``errorClosure`` to a
/// `DelegatedStorage`.
///
/// Any thread, task or actor may call a storage, many at once. Calls are synchronous: each blocks
/// until the place has answered. From async code, use ``BlockingCalls/async(_:)``.
public protocol Storage: AnyObject, Sendable, BlockingCalls {
  /// The sealed store that performs all calls.
  var store: SealedStore { get }

  /// Receives the errors of calls that can't throw; when nil, ``StorageDiagnostics`` receives them.
  ///
  /// The closure runs while the package holds no lock, and may use the storage.
  var errorClosure: StorageErrorClosure? { get set }
}

/// A storage type with one shared instance, which a family of wrappers uses.
public protocol StandardStorage: Storage {
  /// The shared instance.
  static var standard: Self { get }
}

extension Storage {
  /// Passes an error to the error closure, or to the diagnostics when there is no closure.
  @usableFromInline
  package func report(_ error: StorageError) {
    StorageDiagnostics.report(error, to: errorClosure)
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
  /// Reads the value of a key; nil when there is none.
  ///
  /// - Parameters:
  ///   - type: the type that was stored. A `Codable` type without its own stored form is read as
  ///     JSON.
  ///   - key: the key.
  /// - Returns: the value, or nil.
  /// - Throws: `StorageError`: `typeMismatch`, `damaged`, or the reason why the store can't be
  ///   read.
  public func load<Value>(
    _ type: Value.Type = Value.self, forKey key: StoreKey
  ) throws(StorageError) -> Value? {
    try store.read(store.name(key), ValueCoder<Value>.automatic())
  }

  /// Stores a value, or removes it when `value` is nil.
  ///
  /// Where the place is durable, the change is durable when this returns.
  ///
  /// - Throws: `StorageError`. The old value then remains, except after `outcomeUnknown`, when the
  ///   change may or may not have been stored.
  public func save<Value>(_ value: Value?, forKey key: StoreKey) throws(StorageError) {
    guard let value else { return try delete(forKey: key) }
    try store.write(value, store.name(key), ValueCoder<Value>.automatic())
  }

  /// Stores a value only if the key has none, in one atomic step.
  ///
  /// - Returns: whether the value was stored.
  /// - Throws: `StorageError`. Nothing was stored, except after `outcomeUnknown`, when the value
  ///   may or may not have been stored.
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
  ///   - body: gets the value, or nil when there is none, and changes it; setting it to nil removes
  ///     the value. `body` runs outside all locks, and runs again if another thread or process
  ///     wrote meanwhile. On a store that many machines share it runs again, too, when it threw over a
  ///     value that the engine no longer has.
  /// - Returns: what the last run of `body` returned.
  /// - Throws: what `body` throws, or `StorageError`: `busy` when other writers kept changing the
  ///   value for 30 s, on a shared store for as long as a call takes there; `unsupported` when the place
  ///   can't compare records. The old value then remains, except after `outcomeUnknown`.
  @discardableResult
  public func update<Value, Result>(
    _ type: Value.Type = Value.self, forKey key: StoreKey, _ body: (inout Value?) throws -> Result
  ) throws -> Result {
    try update(Value.self, forKey: key, asksEngine: true, body)
  }

  /// The same; a shared store's engine is asked before an error leaves it, or not.
  package func update<Value, Result>(
    _ type: Value.Type, forKey key: StoreKey, asksEngine: Bool,
    _ body: (inout Value?) throws -> Result
  ) throws -> Result {
    try store.update(
      store.name(key), ValueCoder<Value>.automatic(), asksEngine: asksEngine, body)
  }

  /// Removes a value, if there is one.
  ///
  /// - Throws: `StorageError`. The value then remains, except after `outcomeUnknown`, when it may
  ///   or may not have been removed.
  public func delete(forKey key: StoreKey) throws(StorageError) {
    try store.remove(store.name(key))
  }

  /// Whether a key has a value of any type.
  ///
  /// A damaged value counts as a value.
  ///
  /// - Throws: `StorageError` when the store can't be read.
  public func contains(_ key: StoreKey) throws(StorageError) -> Bool {
    try store.fetch(store.name(key)) != nil
  }

  /// The keys that have a value, in any order.
  ///
  /// Opens every record.
  ///
  /// - Throws: `StorageError`: `unsupported` when the place can't list its records; `damaged` when
  ///   a record can't be opened, for example one sealed with another authentication tag.
  ///   ``listing()`` returns the readable keys in that case.
  public func keys() throws(StorageError) -> [StoreKey] {
    let listing = try listing()
    guard listing.unreadable == 0 else {
      throw StorageError(
        .damaged,
        "\(listing.unreadable) of the records can't be read: they are damaged, missing, or sealed "
          + "with another value of the argument authenticationTag. Call listing() for the keys of the others"
      )
    }
    return listing.keys
  }

  /// The keys whose records can be opened, and the number of records that can't be opened.
  ///
  /// - Throws: `StorageError`: `unsupported` when the place can't list its records, or the reason
  ///   why the store can't be read.
  public func listing() throws(StorageError) -> KeyListing {
    try store.listing()
  }

  /// Removes all values, including unreadable ones.
  ///
  /// The store keeps its keys. Where the delegate is a ``RecordPlace``, all values are removed
  /// in one atomic step; elsewhere they are removed one after the other. A value that another
  /// thread or process saves meanwhile may remain.
  ///
  /// - Throws: `StorageError`: `unsupported` when the place can't list its records; `damaged` when
  ///   a listed name does not lead to its record, as in a damaged vault: all others are removed then.
  ///   After another error all values remain, except after `outcomeUnknown`, and where values are
  ///   removed one after the other.
  public func removeAll() throws(StorageError) {
    try store.removeAll()
  }

  /// Removes the store itself, for good: all values, its key slots and its files, unread.
  ///
  /// It starts anew where nothing else helps: the key is lost, the file belongs to another program
  /// or is no store at all. It opens nothing and asks nobody, so let the user confirm it first.
  /// The storage works at once as a new store: reads find no value, live properties have their
  /// defaults, and the next write makes a store and, where the source makes keys, its key.
  ///
  /// The key of the old store stays where it is, since other stores may need it. Where a key file
  /// is gone, a new one is made as soon as no other store is left that was noted to need it. Copies
  /// and backups stay, too, and so do files that a restore or a repair has set aside.
  ///
  /// Other programs that use the store find it empty. A write of theirs goes to the new store, or
  /// is an error. A storage that was opened with ``StoreExistence/mustExist`` makes no new store:
  /// its next use is the error `unavailable`. Values of other authentication tags are removed, too.
  ///
  /// - Throws: `StorageError`: `readOnly` when the storage may not write, `denied` for a folder, a
  ///   link or another user's file in the place of the store, `busy` when another program has a
  ///   store open that can only be replaced as a whole, `unsupported` when the place can't list its
  ///   records. The store is then as it was, or a part of its values is gone; call it again.
  public func discard() throws(StorageError) {
    try store.discard()
  }
}
