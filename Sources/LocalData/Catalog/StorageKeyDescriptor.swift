/// The declaration of a key, for reports: no value, and no key material.
public struct StorageKeyDescriptor: Hashable, Sendable {
  /// The name.
  public let name: String
  /// The domain.
  public let domain: StorageDomain
  /// The protection.
  public let security: SecurityPolicy
  /// The name of the serializer.
  public let serializer: String
  /// The type of the value, as Swift writes it.
  public let valueType: String
  /// Who is responsible for the data.
  public let owner: String
  /// What the data is.
  public let description: String
  /// On which machines the key may be used.
  public let availability: PlatformAvailability
  /// Whether the value is sent to other machines.
  public let syncPolicy: SyncPolicy
}

extension StorageKeyDescriptor {
  /// Describes a key.
  public init<Key: StorageKey>(of key: Key) {
    self.init(
      name: key.name, domain: key.domain, security: key.security, serializer: key.serializer.name,
      valueType: "\(Key.Value.self)", owner: key.owner, description: key.description,
      availability: key.availability, syncPolicy: key.syncPolicy)
  }
}
