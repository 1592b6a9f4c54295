/// Where the master key is, and values for keys that omit a detail.
public struct EncryptionConfiguration: Hashable, Sendable {
  /// The service under which the keychain keeps the master key.
  public var masterKeyService: String
  /// The account under which the keychain keeps the master key.
  public var masterKeyAccount: String
  /// The length in bytes of a new master key: 32 or 64.
  ///
  /// An existing master key keeps its length.
  public var masterKeyLength: Int
  /// The iterations of PBKDF2 for keys that name none: 600,000 to 10,000,000.
  public var pbkdf2Iterations: Int
  /// How long a call waits for a provider of key material before it throws `timedOut`.
  public var keyMaterialDeadline: Duration

  /// Creates a configuration.
  ///
  /// - Parameters:
  ///   - masterKeyService: the service of the master key in the keychain.
  ///   - masterKeyAccount: the account of the master key in the keychain.
  ///   - masterKeyLength: the length in bytes of a new master key: 32 or 64.
  ///   - pbkdf2Iterations: the iterations of PBKDF2 for keys that name none.
  ///   - keyMaterialDeadline: how long a call waits for a provider of key material.
  public init(
    masterKeyService: String = "LocalData", masterKeyAccount: String = "MasterKey",
    masterKeyLength: Int = 32, pbkdf2Iterations: Int = 600_000,
    keyMaterialDeadline: Duration = .seconds(30)
  ) {
    self.masterKeyService = masterKeyService
    self.masterKeyAccount = masterKeyAccount
    self.masterKeyLength = masterKeyLength
    self.pbkdf2Iterations = pbkdf2Iterations
    self.keyMaterialDeadline = keyMaterialDeadline
  }
}
