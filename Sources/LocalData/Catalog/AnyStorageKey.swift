/// A key with any type of value, for lists of keys.
public struct AnyStorageKey: Sendable {
  /// The key itself.
  package let base: any StorageKey

  private init(erasing key: any StorageKey) { base = key }

  /// Wraps a key for a list.
  public static func key(_ key: some StorageKey) -> AnyStorageKey { AnyStorageKey(erasing: key) }

  /// Wraps a key for a list.
  public init(_ key: some StorageKey) { self.init(erasing: key) }

  /// The declaration of the key.
  public var descriptor: StorageKeyDescriptor { StorageKeyDescriptor(of: base) }
}

extension AnyStorageKey: CustomStringConvertible {
  /// The domain and the name.
  public var description: String { "\(base.domain)/\(base.name)" }
}
