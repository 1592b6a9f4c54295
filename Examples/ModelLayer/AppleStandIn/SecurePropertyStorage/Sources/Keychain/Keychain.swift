public import Storage

/// A property of the Keychain; nil when there is no value.
@propertyWrapper @StorageActor public final class Keychain<Value: Sendable> {
  private let key: String

  /// A property of a key.
  public init(_ key: String) { self.key = key }

  /// The value, or nil.
  public var wrappedValue: Value? {
    get { MemoryStorage.keychain[key, as: Value.self] }
    set { MemoryStorage.keychain[key, as: Value.self] = newValue }
  }
}

extension MemoryStorage {
  static let keychain = MemoryStorage()
}
