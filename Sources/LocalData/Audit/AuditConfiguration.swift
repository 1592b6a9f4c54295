internal import FoundationEssentials
internal import StorageCore

/// The configuration behind a report, in a form that can be stored.
struct AuditConfiguration: Codable, Hashable, Sendable {
  var defaultKeychainService: String?
  var defaultAppGroupIdentifier: String?
  var keychain: StorageConfiguration.KeychainPlace
  /// The paths of groups' folders, by the ids.
  var groupFolders: [String: String]
  var machineTags: [String]
  var masterKeyService: String
  var masterKeyAccount: String
  var pbkdf2Iterations: Int
  var subDirectory: String?

  init(_ state: RouterState) {
    self.init(state.storage, state.encryption, state.files)
  }

  init(
    _ storage: StorageConfiguration = StorageConfiguration(),
    _ encryption: EncryptionConfiguration = EncryptionConfiguration(),
    _ files: FileStorageConfiguration = FileStorageConfiguration()
  ) {
    defaultKeychainService = storage.defaultKeychainService
    defaultAppGroupIdentifier = storage.defaultAppGroupIdentifier
    keychain = storage.keychain
    groupFolders = storage.groupFolders.mapValues { $0.path(percentEncoded: false) }
    machineTags = storage.machineTags.sorted()
    masterKeyService = encryption.masterKeyService
    masterKeyAccount = encryption.masterKeyAccount
    pbkdf2Iterations = encryption.pbkdf2Iterations
    subDirectory = files.subDirectory
  }

  var storage: StorageConfiguration {
    StorageConfiguration(
      defaultKeychainService: defaultKeychainService,
      defaultAppGroupIdentifier: defaultAppGroupIdentifier, keychain: keychain,
      groupFolders: groupFolders.mapValues { URL(fileURLWithPath: $0, isDirectory: true) },
      machineTags: Set(machineTags))
  }

  var encryption: EncryptionConfiguration {
    EncryptionConfiguration(
      masterKeyService: masterKeyService, masterKeyAccount: masterKeyAccount,
      pbkdf2Iterations: pbkdf2Iterations)
  }

  var files: FileStorageConfiguration { FileStorageConfiguration(subDirectory: subDirectory) }
}
