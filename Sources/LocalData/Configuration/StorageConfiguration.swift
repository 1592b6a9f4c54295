public import struct Foundation.URL

/// What keys that leave out a service or a group get, and where shared places are.
public struct StorageConfiguration: Hashable, Sendable {
  /// Where the values of the domain `keychain` are.
  public enum KeychainPlace: String, Hashable, Sendable, Codable {
    /// In the keyring where the session has one, else in the vault.
    ///
    /// Decided once, when the first value is written, and kept: see ``StorageConfiguration/keychain``.
    case automatic
    /// In the vault `keychain.vault` in the application's data folder.
    case vault
    /// In the desktop's keyring; without one each call is the error that says why.
    case keyring
  }

  /// The service of keys that name none; nil is the application's id.
  public var defaultKeychainService: String?
  /// The group of keys that name none; nil makes them the error `invalidAppGroupIdentifier`.
  public var defaultAppGroupIdentifier: String?
  /// Where the values of the domain `keychain` are.
  ///
  /// What was chosen is recorded when the first value is written, and never changed silently: another
  /// choice is the error `configurationConflict` while there are values at the former place.
  public var keychain: KeychainPlace
  /// The folders of groups that an administrator made for several users, by the id of the group.
  ///
  /// Such a folder has the mode 2770 and belongs to the users' group; what is written in it can be read
  /// and written by that group. Other groups are in `$XDG_DATA_HOME/groups/<id>`, for one user alone.
  public var groupFolders: [String: URL]
  /// What this machine is, for ``PlatformAvailability``.
  public var machineTags: Set<String>

  /// What keys that leave out a service or a group get.
  ///
  /// - Parameters:
  ///   - defaultKeychainService: the service of keys that name none.
  ///   - defaultAppGroupIdentifier: the group of keys that name none.
  ///   - keychain: where the values of the domain `keychain` are.
  ///   - groupFolders: the folders of groups that several users share.
  ///   - machineTags: what this machine is.
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
