public import CryptoCore

/// A property of a `Codable` type that is kept in a storage, and `nil` when there is no value.
///
///     @CodableStore(storage, "user") var user: User?
///
/// Kept as JSON unless another ``CodableCoding`` is given. In everything else as ``Store``.
@propertyWrapper
public struct CodableStore<Value: Codable, StorageType: Storage>: OptionalStoredProperty, Sendable {
  /// Storage, name and coder.
  public let core: PropertyCore<Value, StorageType>

  /// A property without an initial value.
  ///
  /// - Parameters:
  ///   - storage: where it is kept.
  ///   - key: its key.
  ///   - coding: how the value becomes bytes.
  public init(_ storage: StorageType, _ key: StoreKey, coding: CodableCoding = .json) {
    core = PropertyCore(storage, key, .coding(coding))
  }

  /// A property with an initial value, stored if the key has none.
  ///
  /// - Parameters:
  ///   - wrappedValue: the initial value; nil is none.
  ///   - storage: where it is kept.
  ///   - key: its key.
  ///   - coding: how the value becomes bytes.
  public init(
    wrappedValue: Value?, _ storage: StorageType, _ key: StoreKey, coding: CodableCoding = .json
  ) {
    self.init(storage, key, coding: coding)
    core.register(wrappedValue)
  }

  /// A property whose key is a case of an enumeration over `String`.
  public init<Key: RawRepresentable<String>>(
    _ storage: StorageType, _ key: Key, coding: CodableCoding = .json
  ) {
    self.init(storage, key.rawValue, coding: coding)
  }

  /// A property with an initial value, whose key is a case of an enumeration over `String`.
  public init<Key: RawRepresentable<String>>(
    wrappedValue: Value?, _ storage: StorageType, _ key: Key, coding: CodableCoding = .json
  ) {
    self.init(wrappedValue: wrappedValue, storage, key.rawValue, coding: coding)
  }

  /// The stored value, or nil when there is none or it could not be read.
  public var wrappedValue: Value? {
    @inlinable get { core.get() }
    @inlinable nonmutating set { core.set(newValue) }
  }

  /// The wrapper itself: `$property.load()` and the like.
  public var projectedValue: CodableStore { self }
}

extension CodableStore where StorageType: StandardStorage {
  /// A property of the standard storage.
  ///
  /// `fileID` and `line` are its place in the program's source, for errors that name it.
  public init(
    _ key: StoreKey, coding: CodableCoding = .json, fileID: StaticString = #fileID,
    line: UInt = #line
  ) {
    core = PropertyCore(standard: key, .coding(coding), at: SourcePlace(fileID, line))
  }

  /// A property of the standard storage with an initial value, stored if the key has none.
  ///
  /// `fileID` and `line` are its place in the program's source, for errors that name it.
  public init(
    wrappedValue: Value?, _ key: StoreKey, coding: CodableCoding = .json,
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) {
    self.init(key, coding: coding, fileID: fileID, line: line)
    core.register(wrappedValue)
  }

  /// A property of the standard storage whose key is a case of an enumeration over `String`.
  ///
  /// `fileID` and `line` are its place in the program's source, for errors that name it.
  public init<Key: RawRepresentable<String>>(
    _ key: Key, coding: CodableCoding = .json, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    self.init(key.rawValue, coding: coding, fileID: fileID, line: line)
  }

  /// A property of the standard storage with an initial value, whose key is a case of an
  /// enumeration over `String`.
  ///
  /// `fileID` and `line` are its place in the program's source, for errors that name it.
  public init<Key: RawRepresentable<String>>(
    wrappedValue: Value?, _ key: Key, coding: CodableCoding = .json, fileID: StaticString = #fileID,
    line: UInt = #line
  ) {
    self.init(
      wrappedValue: wrappedValue, key.rawValue, coding: coding, fileID: fileID, line: line)
  }
}

extension CodableStore: RedactedDescription {
  /// The key, and no value.
  public var description: String { "CodableStore(\"\(key)\")" }
}
