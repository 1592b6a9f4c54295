/// A key of any type of value, for lists of them.
public struct AnyStorageKey: Sendable {
  /// The key itself.
  package let base: any StorageKey

  private init(erasing key: any StorageKey) { base = key }

  /// A key for a list.
  public static func key(_ key: some StorageKey) -> AnyStorageKey { AnyStorageKey(erasing: key) }

  /// A key for a list.
  public init(_ key: some StorageKey) { self.init(erasing: key) }

  /// What the key declares.
  public var descriptor: StorageKeyDescriptor { StorageKeyDescriptor(of: base) }
}

extension AnyStorageKey: CustomStringConvertible {
  /// The domain and the name.
  public var description: String { "\(base.domain)/\(base.name)" }
}
