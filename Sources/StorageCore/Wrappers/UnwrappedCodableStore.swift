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
  public init(wrappedValue: Value, _ key: StoreKey, coding: CodableCoding = .json) {
    self.init(wrappedValue: wrappedValue, .standard, key, coding: coding)
  }

  /// A property of the standard storage whose key is a case of an enumeration over `String`.
  public init<Key: RawRepresentable<String>>(
    wrappedValue: Value, _ key: Key, coding: CodableCoding = .json
  ) {
    self.init(wrappedValue: wrappedValue, .standard, key.rawValue, coding: coding)
  }
}

extension UnwrappedCodableStore: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The key, and neither value nor default.
  public var description: String { "UnwrappedCodableStore(\"\(key)\")" }
  /// The key, and neither value nor default.
  public var debugDescription: String { description }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
