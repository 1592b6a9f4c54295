public import CryptoCore

/// The source of the wrappers of storages: a storage, a name with its cached hash, and a coder.
///
/// Opaque; only ``StoredProperty`` needs it. Printing it shows the key.
public struct PropertyCore<Value, StorageType: Storage>: UpdatableSource, ObservedSource {
  @usableFromInline let storage: StorageType
  @usableFromInline let recordName: RecordName
  @usableFromInline let coder: ValueCoder<Value>
  /// Whether this is a property of the standard storage.
  ///
  /// In a test, such a property uses the test's own standard storage.
  @usableFromInline let followsTests: Bool

  init(_ storage: StorageType, _ key: StoreKey, _ coder: ValueCoder<Value>) {
    self.init(storage, storage.store.name(ofProperty: key), coder)
  }

  init(
    _ storage: StorageType, _ name: RecordName, _ coder: ValueCoder<Value>,
    followsTests: Bool = false
  ) {
    self.storage = storage
    recordName = name
    self.coder = coder
    self.followsTests = followsTests
  }

  /// The key.
  public var name: StoreKey { recordName.text }

  /// The storage in use.
  ///
  /// It differs from the given one when a test that has its own stores uses a wrapper that the
  /// program or another test created.
  public var home: StorageType { followsTests ? storage.inUse : storage }

  /// What is remembered of the last read.
  @inlinable
  public var failedRead: FailedRead {
    if TestStores.areInUse { return FailedRead(name, in: home.store.failedReads) }
    return FailedRead(recordName.text, in: storage.store.failedReads)
  }

  // Everything is inlinable down to the first calls that are not generic. `make bench` shows that a
  // read through unspecialised generics of another module takes twice the time.

  /// Reads the value; nil when there is none.
  @inlinable
  public func load() throws(StorageError) -> Value? {
    // Two separate calls: choosing the storage first would retain and release it in every read.
    if TestStores.areInUse { return try home.store.read(recordName, coder) }
    return try storage.store.read(recordName, coder)
  }

  /// Reads the value: here if it is in memory, else on a thread that may block.
  public func loadAsync() async throws(StorageError) -> Value? {
    if let value = loadAtOnce() { return value }
    return try await loadBlocking()
  }

  /// The value if it is in memory, so that reading it takes no time; nil when ``load()`` has to look.
  package func loadAtOnce() -> Value?? { home.store.readAtOnce(recordName, coder) }

  /// Stores a value, or removes it when `value` is nil.
  @inlinable
  public func save(_ value: Value?) throws(StorageError) {
    if TestStores.areInUse { return try save(value, in: home.store) }
    try save(value, in: storage.store)
  }

  @inlinable
  func save(_ value: Value?, in store: SealedStore) throws(StorageError) {
    if let value {
      try store.write(value, recordName, coder)
    } else {
      try store.remove(recordName)
    }
  }

  /// Changes the value in one atomic step.
  public func update<Result>(_ body: (inout Value?) throws -> Result) throws -> Result {
    try home.store.update(recordName, coder, body)
  }

  /// Whether there is a value, even if it can't be read.
  public func contains() throws(StorageError) -> Bool { try home.store.fetch(recordName) != nil }

  /// The state now, then after every change.
  public var states: PropertyStates<Value> {
    let states = RecordStates(store: home.store, name: recordName, coder: coder)
    return PropertyStates(of: name) { RecordStates.Iterator(states) }
  }

  /// Passes an error to the storage's error closure.
  public func report(_ error: StorageError) { home.report(error) }
}

extension PropertyCore where StorageType: StandardStorage {
  /// Creates a property of the standard storage; `place` is its position in the program's source.
  init(standard key: StoreKey, _ coder: ValueCoder<Value>, at place: SourcePlace) {
    let storage = StorageType.standard
    self.init(
      storage, storage.store.name(ofProperty: key, at: place), coder, followsTests: true)
  }
}

extension Storage {
  /// The standard storage in use, for a property of the standard storage.
  ///
  /// It is another one than this when a test has its own stores.
  var inUse: Self {
    guard TestStores.inUse != nil, let family = Self.self as? any StandardStorage.Type
    else { return self }
    return family.standard as? Self ?? self
  }
}

extension PropertyCore: RedactedDescription {
  /// The key, and no value.
  public var description: String { "PropertyCore(\"\(name)\")" }
}
