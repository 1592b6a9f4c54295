public import CryptoCore

/// Reads and writes that take effect together or not at all.
///
/// The body of ``Storage/transaction(deadline:_:)`` gets a transaction. It reads each value from
/// the storage once; later reads return the same value. It holds all writes until `body` has
/// returned, and reads see them. After that, every call is the error `invalid`. In a child of
/// fork(2), every call is the error `unavailable`, and so is the commit. Only one thread at a time
/// may use a transaction.
public final class StorageTransaction {
  private let store: SealedStore
  /// The names that the transaction has used, with what it read and wrote.
  private var names: TransactionNames
  private let runs: BodyRuns

  init(_ store: SealedStore, _ runs: BodyRuns) {
    (self.store, self.runs) = (store, runs)
    names = TransactionNames(store)
  }

  /// The items, in the order in which names were first used.
  var items: [TransactionItem] { names.items }

  /// Whether the transaction depends on the value that a name has now; nil means any name.
  func hasSeen(_ name: String?) -> Bool {
    items.contains { item in
      item.seen != nil && item.name.isMeant(by: name)
    }
  }

  /// Refuses to be committed in a child of fork(2).
  func requireOwn() throws(StorageError) { try names.requireOwn() }

  /// Drops everything; every later call throws `invalid`.
  func end() { names.end() }

  // MARK: - Calls

  /// Reads the value of a key; nil when there is none.
  ///
  /// - Parameters:
  ///   - type: the type that was stored. A `Codable` type without its own stored form is read as
  ///     JSON.
  ///   - key: the key.
  /// - Returns: the value that this transaction has written, else the stored value, else nil.
  /// - Throws: `StorageError`: `typeMismatch`, `damaged`, or the reason why the store can't be
  ///   read.
  public func load<Value>(
    _ type: Value.Type = Value.self, forKey key: StoreKey
  ) throws(StorageError) -> Value? {
    try read(key, ValueCoder<Value>.automatic())
  }

  /// Reads the value of a key that was stored as `Codable`; nil when there is none.
  ///
  /// - Parameters:
  ///   - type: the type of the value.
  ///   - key: the key.
  ///   - coding: how the value was encoded.
  /// - Returns: the value, or nil.
  /// - Throws: as ``load(_:forKey:)``.
  public func load<Value: Decodable>(
    decodable type: Value.Type, forKey key: StoreKey, coding: CodableCoding = .json
  ) throws(StorageError) -> Value? {
    try read(key, ValueCoder<Value>.decoding(coding))
  }

  /// Stores a value when the transaction ends; nil removes the value.
  ///
  /// - Throws: `StorageError`: `invalid` for an invalid key or value, `unsupported` for a type that
  ///   can't be stored.
  public func save<Value>(_ value: Value?, forKey key: StoreKey) throws(StorageError) {
    guard let value else { return try delete(forKey: key) }
    try write(value, key, ValueCoder<Value>.automatic())
  }

  /// Stores a value as `Codable` when the transaction ends; nil removes the value.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - key: the key.
  ///   - coding: how the value is encoded.
  /// - Throws: as ``save(_:forKey:)``.
  public func save<Value: Encodable>(
    encodable value: Value?, forKey key: StoreKey, coding: CodableCoding = .json
  ) throws(StorageError) {
    guard let value else { return try delete(forKey: key) }
    try write(value, key, ValueCoder<Value>.encoding(coding))
  }

  /// Stores a value only if the key has none.
  ///
  /// - Returns: whether the value will be stored when the transaction ends.
  /// - Throws: as ``load(_:forKey:)`` and ``save(_:forKey:)``.
  @discardableResult
  public func saveIfAbsent<Value>(
    _ value: Value, forKey key: StoreKey
  ) throws(StorageError) -> Bool {
    guard try !contains(key) else { return false }
    try save(value, forKey: key)
    return true
  }

  /// Changes a value.
  ///
  /// - Parameters:
  ///   - type: the type of the value.
  ///   - key: the key.
  ///   - body: gets the value, or nil when there is none, and changes it; setting it to nil removes
  ///     the value.
  /// - Returns: what `body` returned.
  /// - Throws: what `body` throws, or `StorageError`.
  @discardableResult
  public func update<Value, Result>(
    _ type: Value.Type = Value.self, forKey key: StoreKey, _ body: (inout Value?) throws -> Result
  ) throws -> Result {
    let coder = ValueCoder<Value>.automatic()
    var value = try read(key, coder)
    let result = try body(&value)
    if let value { try write(value, key, coder) } else { try delete(forKey: key) }
    return result
  }

  /// Removes a value, if there is one, when the transaction ends.
  ///
  /// - Throws: `StorageError`: `invalid` for an invalid key.
  public func delete(forKey key: StoreKey) throws(StorageError) {
    try names.write(.nothing, key)
  }

  /// Whether a key has a value of any type.
  ///
  /// A damaged value counts as a value.
  ///
  /// - Throws: `StorageError` when the store can't be read.
  public func contains(_ key: StoreKey) throws(StorageError) -> Bool {
    let position = try names.position(of: key)
    switch names.items[position].written {
    case .payload: return true
    case .nothing: return false
    case nil:
      guard case .record = try seen(position) else { return false }
      return true
    }
  }

  // MARK: - Payloads

  /// Lends the payload of a key to `body`, if there is one.
  ///
  /// - Returns: whether there is one.
  func withPayload(
    _ key: StoreKey, _ body: (RawSpan) throws(StorageError) -> Void
  ) throws(StorageError) -> Bool {
    do throws(StorageError) {
      let position = try names.position(of: key)
      switch names.items[position].written {
      case .payload(let payload): try payload.lend(body)
      case .nothing: return false
      case nil:
        guard case .record(let sealed) = try seen(position) else { return false }
        try store.openRemembering(sealed, names.items[position].name, body)
      }
      return true
    } catch {
      throw error.about(key)
    }
  }

  /// Holds a payload for a key until the transaction ends.
  func write(_ payload: PlainPayload, _ key: StoreKey) throws(StorageError) {
    try names.write(.payload(payload), key)
  }

  private func read<Value>(
    _ key: StoreKey, _ coder: ValueCoder<Value>
  ) throws(StorageError) -> Value? {
    var value: Value?
    _ = try withPayload(key) { (payload) throws(StorageError) in
      value = try coder.decode(payload)
    }
    return value
  }

  private func write<Value>(
    _ value: Value, _ key: StoreKey, _ coder: ValueCoder<Value>
  ) throws(StorageError) {
    do throws(StorageError) {
      let payload = try PlainPayload(name: key) { (bytes) throws(StorageError) in
        try coder.append(value, &bytes)
      }
      try write(payload, key)
    } catch {
      throw error.about(key)
    }
  }

  /// What the storage held under an item's name at the first read.
  private func seen(_ position: Int) throws(StorageError) -> TransactionItem.Seen {
    let item = names.items[position]
    if let seen = item.seen { return seen }
    let sealed = try runs.fetch(item.name)
    let seen = sealed.map { TransactionItem.Seen.record($0) } ?? .nothing
    names.see(seen, position)
    return seen
  }
}

@available(*, unavailable)
extension StorageTransaction: Sendable {}

extension StorageTransaction: RedactedDescription {}
