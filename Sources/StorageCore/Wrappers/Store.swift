public import CryptoCore

/// A property that is kept in a storage, and `nil` when there is no value.
///
///     @Store(storage, "token") var token: String?
///     @Store(storage, "region") var region = "eu"
///
/// An initial value is stored when the wrapper is made if, and only if, the key has no value: never
/// when that could not be read. Reading the property when the storage fails gives `nil` and reports
/// the error; `$property.load()` throws it. Assigning `nil` removes the value. After a read that
/// failed, assigning is refused until a read succeeds or `$property.save(_:)` is called.
/// A wrapper is a Sendable value; copies address the same stored value.
@propertyWrapper
public struct Store<Value, StorageType: Storage>: OptionalStoredProperty, Sendable {
  /// Storage, name and coder.
  public let core: PropertyCore<Value, StorageType>

  /// A property without an initial value.
  ///
  /// - Parameters:
  ///   - storage: where it is kept.
  ///   - key: its key.
  public init(_ storage: StorageType, _ key: StoreKey) {
    core = PropertyCore(storage, key, .automatic())
  }

  /// A property with an initial value, stored if the key has none.
  ///
  /// - Parameters:
  ///   - wrappedValue: the initial value; nil is none.
  ///   - storage: where it is kept.
  ///   - key: its key.
  public init(wrappedValue: Value?, _ storage: StorageType, _ key: StoreKey) {
    self.init(storage, key)
    core.register(wrappedValue)
  }

  /// A property whose key is a case of an enumeration over `String`.
  public init<Key: RawRepresentable<String>>(_ storage: StorageType, _ key: Key) {
    self.init(storage, key.rawValue)
  }

  /// A property with an initial value, whose key is a case of an enumeration over `String`.
  public init<Key: RawRepresentable<String>>(
    wrappedValue: Value?, _ storage: StorageType, _ key: Key
  ) {
    self.init(wrappedValue: wrappedValue, storage, key.rawValue)
  }

  /// The stored value, or nil when there is none or it could not be read.
  public var wrappedValue: Value? {
    @inlinable get { core.get() }
    @inlinable nonmutating set { core.set(newValue) }
  }

  /// The wrapper itself: `$property.load()` and the like.
  public var projectedValue: Store { self }
}

extension Store where StorageType: StandardStorage {
  /// A property of the standard storage.
  ///
  /// `fileID` and `line` are its place in the program's source, for errors that name it.
  public init(
    _ key: StoreKey, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    core = PropertyCore(standard: key, .automatic(), at: SourcePlace(fileID, line))
  }

  /// A property of the standard storage with an initial value, stored if the key has none.
  ///
  /// `fileID` and `line` are its place in the program's source, for errors that name it.
  public init(
    wrappedValue: Value?, _ key: StoreKey, fileID: StaticString = #fileID,
    line: UInt = #line
  ) {
    self.init(key, fileID: fileID, line: line)
    core.register(wrappedValue)
  }

  /// A property of the standard storage whose key is a case of an enumeration over `String`.
  ///
  /// `fileID` and `line` are its place in the program's source, for errors that name it.
  public init<Key: RawRepresentable<String>>(
    _ key: Key, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    self.init(key.rawValue, fileID: fileID, line: line)
  }

  /// A property of the standard storage with an initial value, whose key is a case of an
  /// enumeration over `String`.
  ///
  /// `fileID` and `line` are its place in the program's source, for errors that name it.
  public init<Key: RawRepresentable<String>>(
    wrappedValue: Value?, _ key: Key, fileID: StaticString = #fileID,
    line: UInt = #line
  ) {
    self.init(
      wrappedValue: wrappedValue, key.rawValue, fileID: fileID, line: line)
  }
}

extension Store: RedactedDescription {
  /// The key, and no value.
  public var description: String { "Store(\"\(key)\")" }
}
