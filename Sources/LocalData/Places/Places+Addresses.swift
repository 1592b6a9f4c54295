internal import StorageCore

extension Places {
  /// The file of a store or a plain value; nil if it has no file here.
  func path(of address: PlaceAddress) throws(StorageError) -> String? {
    switch address.kind {
    case .sealedSuite:
      return try locations.configuration() + "/" + address.container + ".secure.plist"
    case .plainSuite: return address.container
    case .vault: return try path(ofVault: Self.keychainFile)
    case .keyring, .deviceKeyring: return nil
    case .file: return try address.container + "/" + FileName.encode(address.name)
    case .sealedFolder: return address.container + "/index.vault"
    }
  }

  /// The path of a vault in the application's data folder.
  func path(ofVault file: String) throws(StorageError) -> String {
    try locations.data() + "/" + file
  }

  /// The storage of a value that is a record, and the record's name.
  func record(
    of address: PlaceAddress
  ) throws(StorageError) -> (storage: DelegatedStorage, name: String)? {
    switch address.kind {
    case .sealedSuite: (suite(address.container), address.name)
    case .vault: (vault(Self.keychainFile), Self.vaultName(address.container, address.name))
    case .keyring, .deviceKeyring:
      (try keyring(address.container, ofDevice: address.kind == .deviceKeyring), address.name)
    case .sealedFolder: (try index(of: address.container), address.name)
    case .file, .plainSuite: nil
    }
  }

  /// The name of a service's entry in the vault of the keychain.
  static func vaultName(_ service: String, _ name: String) -> String {
    FileName.escape(service) + "/" + name
  }
}
