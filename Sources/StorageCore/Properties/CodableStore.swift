public import CryptoCore

/// A stored property of a `Codable` type; it is `nil` when the storage has no value for its key.
///
///     @CodableStore(storage, "user") var user: User?
///
/// The value is encoded as JSON unless you pass another ``CodableCoding``. Everything else works as
/// in ``Store``.
@propertyWrapper
public struct CodableStore<Value: Codable, StorageType: Storage>: OptionalStoredProperty, Sendable {
  /// The storage, the name and the coder.
  public let core: PropertyCore<Value, StorageType>

  /// Creates a property.
  ///
  /// - Parameters:
  ///   - wrappedValue: the initial value, which is stored if the key has no value; nil means none.
  ///   - storage: the storage that holds the value.
  ///   - key: the property's key.
  ///   - coding: how the value is encoded.
  public init(
    wrappedValue: Value? = nil, _ storage: StorageType, _ key: StoreKey,
    coding: CodableCoding = .json
  ) {
    core = PropertyCore(storage, key, .coding(coding))
    core.register(wrappedValue)
  }

  /// Creates a property whose key is a case of an enumeration over `String`.
  public init<Key: RawRepresentable<String>>(
    wrappedValue: Value? = nil, _ storage: StorageType, _ key: Key, coding: CodableCoding = .json
  ) {
    self.init(wrappedValue: wrappedValue, storage, key.rawValue, coding: coding)
  }

  /// The stored value; nil when there is none or when it could not be read.
  public var wrappedValue: Value? {
    @inlinable get { core.get() }
    @inlinable nonmutating set { core.set(newValue) }
  }

  /// The wrapper itself: `$property.load()` and the like.
  public var projectedValue: CodableStore { self }
}

extension CodableStore where StorageType: StandardStorage {
  /// Creates a property of the standard storage.
  ///
  /// Errors name the source position that `fileID` and `line` give.
  public init(
    wrappedValue: Value? = nil, _ key: StoreKey, coding: CodableCoding = .json,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    core = PropertyCore(standard: key, .coding(coding), at: SourcePlace(fileID, line))
    core.register(wrappedValue)
  }

  /// Creates a property of the standard storage whose key is a case of an enumeration over
  /// `String`.
  ///
  /// Errors name the source position that `fileID` and `line` give.
  public init<Key: RawRepresentable<String>>(
    wrappedValue: Value? = nil, _ key: Key, coding: CodableCoding = .json,
    fileID: StaticString = #fileID, line: UInt = #line
  ) {
    self.init(
      wrappedValue: wrappedValue, key.rawValue, coding: coding, fileID: fileID, line: line)
  }
}

extension CodableStore: RedactedDescription {
  /// The key, and no value.
  public var description: String { "CodableStore(\"\(key)\")" }
}
