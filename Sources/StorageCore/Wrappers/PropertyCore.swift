public import CryptoCore

/// What all wrappers are made of: a storage, a name whose hash is kept, and a coder.
///
/// Opaque: it is there for ``StoredProperty``. Printing it shows the key.
public struct PropertyCore<Value, StorageType: Storage>: Sendable {
  @usableFromInline let storage: StorageType
  @usableFromInline let name: RecordName
  @usableFromInline let coder: ValueCoder<Value>
  /// Whether it is a property of the standard storage, whichever that is: in a test, the test's own.
  @usableFromInline let followsTests: Bool

  init(_ storage: StorageType, _ key: StoreKey, _ coder: ValueCoder<Value>) {
    self.storage = storage
    self.name = storage.store.name(key)
    self.coder = coder
    followsTests = false
  }

  /// The storage in use: another than ``storage`` where a wrapper of the program, or of another test, is
  /// used in a test that has stores of its own.
  @usableFromInline
  var current: StorageType {
    guard followsTests, TestStores.inUse != nil,
      let family = StorageType.self as? any StandardStorage.Type
    else { return storage }
    return family.standard as? StorageType ?? storage
  }

  // Inlinable down to the calls that are not generic: `make bench` shows a read through generics of
  // another module, unspecialised, at twice the time.
  @inlinable
  func load() throws(StorageError) -> Value? {
    // Two calls, and not one of either storage: that would count references to it in every read.
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

  /// What a wrapper's getter does: an error is reported, and then there is nothing to return.
  @inlinable
  func get() -> Value? {
    do throws(StorageError) {
      return try load()
    } catch {
      current.report(error)
      return nil
    }
  }

  /// What a wrapper's setter does.
  @inlinable
  func set(_ value: Value?) {
    do throws(StorageError) {
      if TestStores.areInUse {
        try current.store.refuseToReplaceUnreadable(name)
      } else {
        try storage.store.refuseToReplaceUnreadable(name)
      }
      try save(value)
    } catch {
      current.report(error)
    }
  }

  /// Stores a default if, and only if, the key has no value.
  func register(_ value: Value?) {
    guard let value else { return }
    do throws(StorageError) {
      // A value that is there, of whatever kind, costs a read and no write.
      guard try storage.store.fetch(name) == nil else { return }
      try storage.store.write(value, name, coder, if: .absent)
    } catch {
      storage.report(error.about(name.text))
    }
  }
}

extension PropertyCore where StorageType: StandardStorage {
  /// A property of the standard storage, which is at `place` in the program's source.
  init(standard key: StoreKey, _ coder: ValueCoder<Value>, at place: SourcePlace) {
    storage = .standard
    name = storage.store.name(key, at: place)
    self.coder = coder
    followsTests = true
  }
}

extension PropertyCore: RedactedDescription {
  /// The key, and no value.
  public var description: String { "PropertyCore(\"\(name.text)\")" }
}
