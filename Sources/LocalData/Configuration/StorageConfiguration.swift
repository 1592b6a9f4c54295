public import struct FoundationEssentials.URL

/// The values for keys that omit a service or a group, and where shared places are.
public struct StorageConfiguration: Hashable, Sendable {
  /// Where the values of the domain `keychain` are.
  public enum KeychainPlace: String, Hashable, Sendable, Codable {
    /// In the keyring if the session has one, else in the vault.
    ///
    /// Decided once, when the first value is written, and then kept: see
    /// ``StorageConfiguration/keychain``.
    case automatic
    /// In the vault `keychain.vault` in the application's data folder.
    case vault
    /// In the desktop's keyring; if there is none, each call throws the reason.
    case keyring
  }

  /// The service for keys that name none; nil means the application's id.
  public var defaultKeychainService: String?
  /// The group for keys that name none; with nil such keys throw `invalidAppGroupIdentifier`.
  public var defaultAppGroupIdentifier: String?
  /// Where the values of the domain `keychain` are.
  ///
  /// The choice is recorded when the first value is written, and never changes silently: another
  /// choice throws `configurationConflict` while values exist at the former place.
  public var keychain: KeychainPlace
  /// The folders of groups that are elsewhere than in `$XDG_DATA_HOME/groups/<id>`, by the id of
  /// the group.
  ///
  /// Such a folder must exist, and belongs to one user: if others can write to it, each use of its
  /// keys throws `unsupported`.
  public var groupFolders: [String: URL]
  /// The tags of this machine, for ``PlatformAvailability``.
  public var machineTags: Set<String>

  /// Creates a configuration.
  ///
  /// - Parameters:
  ///   - defaultKeychainService: the service for keys that name none.
  ///   - defaultAppGroupIdentifier: the group for keys that name none.
  ///   - keychain: where the values of the domain `keychain` are.
  ///   - groupFolders: the folders of groups that are elsewhere.
  ///   - machineTags: the tags of this machine.
  public init(
    defaultKeychainService: String? = nil, defaultAppGroupIdentifier: String? = nil,
    keychain: KeychainPlace = .automatic, groupFolders: [String: URL] = [:],
    machineTags: Set<String> = []
  ) {
    self.defaultKeychainService = defaultKeychainService
    self.defaultAppGroupIdentifier = defaultAppGroupIdentifier
    self.keychain = keychain
    self.groupFolders = groupFolders
    self.machineTags = machineTags
  }
}
