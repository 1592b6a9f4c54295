public import CryptoCore

/// A stored property; it is `nil` when the storage has no value for its key.
///
///     @Store(storage, "token") var token: String?
///     @Store(storage, "region") var region = "eu"
///
/// An initial value is stored when the wrapper is created, and only if the key has no value. If the
/// storage can't be read at that time, nothing is stored.
///
/// Reading the property when the storage fails gives `nil` and reports the error;
/// `$property.load()` throws the error. Assigning `nil` removes the value. After a failed read,
/// assignments are refused until a read succeeds or you call `$property.save(_:)` or
/// `$property.remove()`; after `busy`, `timedOut` or `cancelled`, only the next assignment is refused.
///
/// A wrapper is a Sendable value; its copies share the same stored value.
@propertyWrapper
public struct Store<Value, StorageType: Storage>: OptionalStoredProperty, Sendable {
  /// The storage, the name and the coder.
  public let core: PropertyCore<Value, StorageType>

  /// Creates a property.
  ///
  /// - Parameters:
  ///   - wrappedValue: the initial value, which is stored if the key has no value; nil means none.
  ///   - storage: the storage that holds the value.
  ///   - key: the property's key.
  public init(wrappedValue: Value? = nil, _ storage: StorageType, _ key: StoreKey) {
    core = PropertyCore(storage, key, .automatic())
    core.register(wrappedValue)
  }

  /// Creates a property whose key is a case of an enumeration over `String`.
  public init<Key: RawRepresentable<String>>(
    wrappedValue: Value? = nil, _ storage: StorageType, _ key: Key
  ) {
    self.init(wrappedValue: wrappedValue, storage, key.rawValue)
  }

  /// The stored value; nil when there is none or when it could not be read.
  public var wrappedValue: Value? {
    @inlinable get { core.get() }
    @inlinable nonmutating set { core.set(newValue) }
  }

  /// The wrapper itself: `$property.load()` and the like.
  public var projectedValue: Store { self }
}

extension Store where StorageType: StandardStorage {
  /// Creates a property of the standard storage.
  ///
  /// Errors name the source position that `fileID` and `line` give.
  public init(
    wrappedValue: Value? = nil, _ key: StoreKey, fileID: StaticString = #fileID,
    line: UInt = #line
  ) {
    core = PropertyCore(standard: key, .automatic(), at: SourcePlace(fileID, line))
    core.register(wrappedValue)
  }

  /// Creates a property of the standard storage whose key is a case of an enumeration over
  /// `String`.
  ///
  /// Errors name the source position that `fileID` and `line` give.
  public init<Key: RawRepresentable<String>>(
    wrappedValue: Value? = nil, _ key: Key, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    self.init(wrappedValue: wrappedValue, key.rawValue, fileID: fileID, line: line)
  }
}

extension Store: RedactedDescription {
  /// The key, and no value.
  public var description: String { "Store(\"\(key)\")" }
}
