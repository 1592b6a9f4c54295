public import CryptoCore

/// A property of a `Codable` type that is kept in a storage, and its default when there is no value.
///
///     @UnwrappedCodableStore(storage, "settings") var settings = Settings()
///
/// Kept as JSON unless another ``CodableCoding`` is given. In everything else as ``UnwrappedStore``.
@propertyWrapper
public struct UnwrappedCodableStore<Value: Codable, StorageType: Storage>:
  DefaultedStoredProperty
{
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
  ///   - coding: how the value becomes bytes.
  public init(
    wrappedValue: Value, _ storage: StorageType, _ key: StoreKey, coding: CodableCoding = .json
  ) {
    core = PropertyCore(storage, key, .coding(coding))
    defaultValue = wrappedValue
  }

  /// A property whose key is a case of an enumeration over `String`.
  public init<Key: RawRepresentable<String>>(
    wrappedValue: Value, _ storage: StorageType, _ key: Key, coding: CodableCoding = .json
  ) {
    self.init(wrappedValue: wrappedValue, storage, key.rawValue, coding: coding)
  }

  /// The stored value, or the default when there is none or it could not be read.
  public var wrappedValue: Value {
    @inlinable get { core.get() ?? defaultValue }
    @inlinable nonmutating set { core.set(newValue) }
  }

  /// The wrapper itself: `$property.load()` and the like.
  public var projectedValue: UnwrappedCodableStore { self }
}

extension UnwrappedCodableStore: Sendable where Value: Sendable {}

extension UnwrappedCodableStore where StorageType: StandardStorage {
  /// A property of the standard storage.
  ///
  /// `fileID` and `line` are its place in the program's source, for errors that name it.
  public init(
    wrappedValue: Value, _ key: StoreKey, coding: CodableCoding = .json,
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) {
    core = PropertyCore(standard: key, .coding(coding), at: SourcePlace(fileID, line))
    defaultValue = wrappedValue
  }

  /// A property of the standard storage whose key is a case of an enumeration over `String`.
  ///
  /// `fileID` and `line` are its place in the program's source, for errors that name it.
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
