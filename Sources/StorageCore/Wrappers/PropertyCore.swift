/// What all wrappers are made of: a storage, a name whose hash is kept, and a coder.
///
/// Opaque: it is there for ``StoredProperty``. Printing it shows the key.
public struct PropertyCore<Value, StorageType: Storage>: Sendable {
  @usableFromInline let storage: StorageType
  @usableFromInline let name: RecordName
  @usableFromInline let coder: ValueCoder<Value>

  init(_ storage: StorageType, _ key: StoreKey, _ coder: ValueCoder<Value>) {
    self.storage = storage
    self.name = storage.store.name(key)
    self.coder = coder
  }

  // Inlinable down to the calls that are not generic: `make bench` shows a read through generics of
  // another module, unspecialised, at twice the time.
  @inlinable
  func load() throws(StorageError) -> Value? {
    try storage.store.read(name, coder)
  }

  @inlinable
  func save(_ value: Value?) throws(StorageError) {
    if let value {
      try storage.store.write(value, name, coder)
    } else {
      try storage.store.remove(name)
    }
  }

  /// What a wrapper's getter does: an error is reported, and then there is nothing to return.
  @inlinable
  func get() -> Value? {
    do throws(StorageError) {
      return try load()
    } catch {
      storage.report(error)
      return nil
    }
  }

  /// What a wrapper's setter does.
  @inlinable
  func set(_ value: Value?) {
    do throws(StorageError) {
      try storage.store.refuseToReplaceUnreadable(name)
      try save(value)
    } catch {
      storage.report(error)
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

extension PropertyCore: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The key, and no value.
  public var description: String { "PropertyCore(\"\(name.text)\")" }
  /// The key, and no value.
  public var debugDescription: String { description }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
