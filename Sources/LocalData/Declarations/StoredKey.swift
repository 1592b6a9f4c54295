/// A key that is a plain value: for catalogs that are structs, and for keys without a type of their
/// own.
///
///     struct AppKeys {
///       let token = StoredKey<String>(
///         "token", in: .keychain(service: "com.example"), security: .recommended, owner: "Login",
///         description: "The session's token.")
///     }
///     let token = try await router(AppKeys()).get(\.token)
public struct StoredKey<Value: Codable & Sendable>: StorageKey {
  /// The name.
  public let name: String
  /// Where the value is kept.
  public let domain: StorageDomain
  /// How the value is protected.
  public let security: SecurityPolicy
  /// How the value becomes bytes.
  public let serializer: Serializer
  /// Who is responsible for the data.
  public let owner: String
  /// What the data is.
  public let description: String
  /// On which machines the key may be used.
  public let availability: PlatformAvailability
  /// Whether the value is sent to other machines.
  public let syncPolicy: SyncPolicy

  /// Creates a key.
  ///
  /// - Parameters:
  ///   - name: 1 to 200 UTF-8 bytes without control characters.
  ///   - domain: where the value is kept.
  ///   - security: how it is protected there.
  ///   - serializer: how it becomes bytes.
  ///   - owner: who is responsible for the data.
  ///   - description: what the data is; not empty.
  ///   - availability: on which machines the key may be used.
  ///   - syncPolicy: whether the value is sent to other machines.
  public init(
    _ name: String, in domain: StorageDomain, security: SecurityPolicy = .recommended,
    serializer: Serializer = .json, owner: String, description: String,
    availability: PlatformAvailability = .all, syncPolicy: SyncPolicy = .never
  ) {
    self.name = name
    self.domain = domain
    self.security = security
    self.serializer = serializer
    self.owner = owner
    self.description = description
    self.availability = availability
    self.syncPolicy = syncPolicy
  }
}
