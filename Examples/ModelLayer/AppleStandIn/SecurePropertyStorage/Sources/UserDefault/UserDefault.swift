public import Storage

/// A `Codable` property of UserDefaults; nil when there is no value.
@propertyWrapper @StorageActor public final class CodableUserDefault<Value: Codable & Sendable> {
  private let key: String

  /// A property of a key.
  public init(_ key: String) { self.key = key }

  /// The value, or nil.
  public var wrappedValue: Value? {
    get { MemoryStorage.defaults[key, as: Value.self] }
    set { MemoryStorage.defaults[key, as: Value.self] = newValue }
  }
}

/// A property of UserDefaults; its default when there is no value.
@propertyWrapper @StorageActor public final class UnwrappedUserDefault<Value: Sendable> {
  private let key: String
  private let defaultValue: Value

  /// A property of a key, with its default.
  public init(wrappedValue: Value, _ key: String) {
    self.key = key
    defaultValue = wrappedValue
  }

  /// The value, or the default.
  public var wrappedValue: Value {
    get { MemoryStorage.defaults[key, as: Value.self] ?? defaultValue }
    set { MemoryStorage.defaults[key, as: Value.self] = newValue }
  }
}

extension MemoryStorage {
  static let defaults = MemoryStorage()
}
