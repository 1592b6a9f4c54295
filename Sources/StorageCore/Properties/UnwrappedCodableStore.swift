public import CryptoCore

/// A stored property of a `Codable` type; it has its default when the storage has no value.
///
///     @UnwrappedCodableStore(storage, "settings") var settings = Settings()
///
/// The value is encoded as JSON unless you pass another ``CodableCoding``. Everything else works as
/// in ``UnwrappedStore``.
@propertyWrapper
public struct UnwrappedCodableStore<Value: Codable, StorageType: Storage>:
  DefaultedStoredProperty
{
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
  ///   - coding: how the value is encoded.
  public init(
    wrappedValue: Value, _ storage: StorageType, _ key: StoreKey, coding: CodableCoding = .json
  ) {
    core = PropertyCore(storage, key, .coding(coding))
    defaultValue = wrappedValue
  }

  /// Creates a property whose key is a case of an enumeration over `String`.
  public init<Key: RawRepresentable<String>>(
    wrappedValue: Value, _ storage: StorageType, _ key: Key, coding: CodableCoding = .json
  ) {
    self.init(wrappedValue: wrappedValue, storage, key.rawValue, coding: coding)
  }

  /// The stored value; the default when there is none or when it could not be read.
  public var wrappedValue: Value {
    @inlinable get { core.get() ?? defaultValue }
    @inlinable nonmutating set { core.set(newValue) }
  }

  /// The wrapper itself: `$property.load()` and the like.
  public var projectedValue: UnwrappedCodableStore { self }
}

extension UnwrappedCodableStore: Sendable where Value: Sendable {}

extension UnwrappedCodableStore where StorageType: StandardStorage {
  /// Creates a property of the standard storage.
  ///
  /// Errors name the source position that `fileID` and `line` give.
  public init(
    wrappedValue: Value, _ key: StoreKey, coding: CodableCoding = .json,
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) {
    core = PropertyCore(standard: key, .coding(coding), at: SourcePlace(fileID, line))
    defaultValue = wrappedValue
  }

  /// Creates a property of the standard storage whose key is a case of an enumeration over
  /// `String`.
  ///
  /// Errors name the source position that `fileID` and `line` give.
  public init<Key: RawRepresentable<String>>(
    wrappedValue: Value, _ key: Key, coding: CodableCoding = .json, fileID: StaticString = #fileID,
    line: UInt = #line
  ) {
    self.init(
      wrappedValue: wrappedValue, key.rawValue, coding: coding, fileID: fileID, line: line)
  }
}

extension UnwrappedCodableStore: RedactedDescription {
  /// The key, and neither value nor default.
  public var description: String { "UnwrappedCodableStore(\"\(key)\")" }
}
