public import CryptoCore

/// A stored property; it has its default when the storage has no value for its key.
///
///     @UnwrappedStore(storage, "attempts") var attempts = 0
///
/// The default is never stored. Reading the property when the storage fails gives the default and
/// reports the error; `$property.load()` throws the error.
///
/// After a failed read, assignments are refused until a read succeeds or you call
/// `$property.save(_:)` or `$property.remove()`. Otherwise `attempts += 1` could replace a value that
/// could not be read. After `busy`, `timedOut` or `cancelled`, only the next assignment is refused: use
/// `$property.update(_:)`, or read again before you assign.
///
/// A wrapper is a value; its copies share the same stored value.
@propertyWrapper
public struct UnwrappedStore<Value, StorageType: Storage>: DefaultedStoredProperty {
  /// The storage, the name and the coder.
  public let core: PropertyCore<Value, StorageType>
  /// The value of the property when the storage has none.
  public let defaultValue: Value

  /// Creates a property with a default.
  ///
  /// - Parameters:
  ///   - wrappedValue: the default.
  ///   - storage: the storage that holds the value.
  ///   - key: the property's key.
  public init(wrappedValue: Value, _ storage: StorageType, _ key: StoreKey) {
    core = PropertyCore(storage, key, .automatic())
    defaultValue = wrappedValue
  }

  /// Creates a property whose key is a case of an enumeration over `String`.
  public init<Key: RawRepresentable<String>>(
    wrappedValue: Value, _ storage: StorageType, _ key: Key
  ) {
    self.init(wrappedValue: wrappedValue, storage, key.rawValue)
  }

  /// The stored value; the default when there is none or when it could not be read.
  public var wrappedValue: Value {
    @inlinable get { core.get() ?? defaultValue }
    @inlinable nonmutating set { core.set(newValue) }
  }

  /// The wrapper itself: `$property.load()` and the like.
  public var projectedValue: UnwrappedStore { self }
}

extension UnwrappedStore: Sendable where Value: Sendable {}

extension UnwrappedStore where StorageType: StandardStorage {
  /// Creates a property of the standard storage.
  ///
  /// Errors name the source position that `fileID` and `line` give.
  public init(
    wrappedValue: Value, _ key: StoreKey, fileID: StaticString = #fileID,
    line: UInt = #line
  ) {
    core = PropertyCore(standard: key, .automatic(), at: SourcePlace(fileID, line))
    defaultValue = wrappedValue
  }

  /// Creates a property of the standard storage whose key is a case of an enumeration over
  /// `String`.
  ///
  /// Errors name the source position that `fileID` and `line` give.
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
