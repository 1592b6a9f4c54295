public import CryptoCore

/// A property that is kept in a storage, and its default when there is no value.
///
///     @UnwrappedStore(storage, "attempts") var attempts = 0
///
/// The default is returned and never written. Reading the property when the storage fails gives the
/// default and reports the error; `$property.load()` throws it. After a read that failed, assigning is
/// refused until a read succeeds or `$property.save(_:)` is called, so that `attempts += 1` can't
/// replace a value that could not be read. A wrapper is a value; copies address the same stored value.
@propertyWrapper
public struct UnwrappedStore<Value, StorageType: Storage>: DefaultedStoredProperty {
  /// Storage, name and coder.
  public let core: PropertyCore<Value, StorageType>
  /// What the property is when there is no value.
  public let defaultValue: Value

  /// A property with a default.
  ///
  /// - Parameters:
  ///   - wrappedValue: the default.
  ///   - storage: where the property is kept.
  ///   - key: its key.
  public init(wrappedValue: Value, _ storage: StorageType, _ key: StoreKey) {
    core = PropertyCore(storage, key, .automatic())
    defaultValue = wrappedValue
  }

  /// A property whose key is a case of an enumeration over `String`.
  public init<Key: RawRepresentable<String>>(
    wrappedValue: Value, _ storage: StorageType, _ key: Key
  ) {
    self.init(wrappedValue: wrappedValue, storage, key.rawValue)
  }

  /// The stored value, or the default when there is none or it could not be read.
  public var wrappedValue: Value {
    @inlinable get { core.get() ?? defaultValue }
    @inlinable nonmutating set { core.set(newValue) }
  }

  /// The wrapper itself: `$property.load()` and the like.
  public var projectedValue: UnwrappedStore { self }
}

extension UnwrappedStore: Sendable where Value: Sendable {}

extension UnwrappedStore where StorageType: StandardStorage {
  /// A property of the standard storage.
  ///
  /// `fileID` and `line` are its place in the program's source, for errors that name it.
  public init(
    wrappedValue: Value, _ key: StoreKey, fileID: StaticString = #fileID,
    line: UInt = #line
  ) {
    core = PropertyCore(standard: key, .automatic(), at: SourcePlace(fileID, line))
    defaultValue = wrappedValue
  }

  /// A property of the standard storage whose key is a case of an enumeration over `String`.
  ///
  /// `fileID` and `line` are its place in the program's source, for errors that name it.
  public init<Key: RawRepresentable<String>>(
    wrappedValue: Value, _ key: Key, fileID: StaticString = #fileID,
    line: UInt = #line
  ) {
    self.init(
      wrappedValue: wrappedValue, key.rawValue, fileID: fileID, line: line)
  }
}

extension UnwrappedStore: RedactedDescription {
  /// The key, and neither value nor default.
  public var description: String { "UnwrappedStore(\"\(key)\")" }
}
