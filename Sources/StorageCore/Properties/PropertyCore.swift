public import CryptoCore

/// The parts that every wrapper consists of: a storage, a name with its cached hash, and a coder.
///
/// Opaque; only ``StoredProperty`` needs it. Printing it shows the key.
public struct PropertyCore<Value, StorageType: Storage>: Sendable {
  @usableFromInline let storage: StorageType
  @usableFromInline let name: RecordName
  @usableFromInline let coder: ValueCoder<Value>
  /// Whether this is a property of the standard storage.
  ///
  /// In a test, such a property uses the test's own standard storage.
  @usableFromInline let followsTests: Bool

  init(_ storage: StorageType, _ key: StoreKey, _ coder: ValueCoder<Value>) {
    self.storage = storage
    self.name = storage.store.name(ofProperty: key)
    self.coder = coder
    followsTests = false
  }

  /// The storage in use.
  ///
  /// It differs from ``storage`` when a test that has its own stores uses a wrapper that the
  /// program or another test created.
  @usableFromInline
  var current: StorageType {
    guard followsTests, TestStores.inUse != nil,
      let family = StorageType.self as? any StandardStorage.Type
    else { return storage }
    return family.standard as? StorageType ?? storage
  }

  // Everything is inlinable down to the first calls that are not generic. `make bench` shows that a
  // read through unspecialised generics of another module takes twice the time.
  @inlinable
  func load() throws(StorageError) -> Value? {
    // Two separate calls: choosing the storage first would retain and release it in every read.
    if TestStores.areInUse { return try current.store.read(name, coder) }
    return try storage.store.read(name, coder)
  }

  @inlinable
  func save(_ value: Value?) throws(StorageError) {
    if TestStores.areInUse { return try save(value, in: current.store) }
    try save(value, in: storage.store)
  }

  @inlinable
  func save(_ value: Value?, in store: SealedStore) throws(StorageError) {
    if let value {
      try store.write(value, name, coder)
    } else {
      try store.remove(name)
    }
  }

  /// Implements a wrapper's getter: reports an error and then returns nil.
  @inlinable
  func get() -> Value? {
    do throws(StorageError) {
      return try load()
    } catch {
      let storage = current
      storage.store.rememberDefault(name, error)
      storage.report(error)
      return nil
    }
  }

  /// Implements a wrapper's setter: refuses to replace an unreadable value, and reports errors.
  @inlinable
  func set(_ value: Value?) {
    do throws(StorageError) {
      if TestStores.areInUse {
        try current.store.checkAssignment(name)
      } else {
        try storage.store.checkAssignment(name)
      }
      try save(value)
    } catch {
      current.report(error)
    }
  }

  /// Stores an initial value only if the key has no value.
  func register(_ value: Value?) {
    guard let value else { return }
    do throws(StorageError) {
      // When the key already has a value of any type, this costs one read and no write.
      guard try storage.store.fetch(name) == nil else { return }
      try storage.store.write(value, name, coder, if: .absent)
    } catch {
      storage.report(error.about(name.text))
    }
  }
}

extension PropertyCore where StorageType: StandardStorage {
  /// Creates a property of the standard storage; `place` is its position in the program's source.
  init(standard key: StoreKey, _ coder: ValueCoder<Value>, at place: SourcePlace) {
    storage = .standard
    name = storage.store.name(ofProperty: key, at: place)
    self.coder = coder
    followsTests = true
  }
}

extension PropertyCore: RedactedDescription {
  /// The key, and no value.
  public var description: String { "PropertyCore(\"\(name.text)\")" }
}
