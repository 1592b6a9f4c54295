import Foundation
import LocalData
import StorageTesting
import Testing

// The uses that docs/localdata.md shows, as an application writes them.

extension StorageKeys {
  fileprivate struct UserTokenKey: StorageKey {
    typealias Value = String
    let name = "user_token"
    let domain: StorageDomain = .keychain(service: "com.myapp")
    let security: SecurityPolicy = .keychain(
      accessibility: .afterFirstUnlock, accessControl: .devicePasscode)
    let serializer: Serializer = .json
    let owner = "AuthService"
    let description = "Stores the current user auth token."
    let availability: PlatformAvailability = .phoneOnly
    let syncPolicy: SyncPolicy = .never
  }

  fileprivate struct AppVersionKey: StorageKey {
    typealias Value = String
    let name = "last_app_version"
    let domain: StorageDomain = .userDefaults
    let security: SecurityPolicy = .none
    let serializer: Serializer = .json
    let owner = "MigrationService"
    let description = "The version that ran last."
    let availability: PlatformAvailability = .all
    let syncPolicy: SyncPolicy = .automaticSmall
  }

  fileprivate struct UserPreferencesKey: StorageKey {
    typealias Value = [String: AnyCodable]
    let name = "user_preferences"
    let domain: StorageDomain = .appGroupUserDefaults(identifier: nil)
    let serializer: Serializer = .plist
    let owner = "SettingsService"
    let description = "What the user prefers."
    let syncPolicy: SyncPolicy = .manual
  }

  fileprivate struct NotesKey: StorageKey {
    typealias Value = Data
    let name = "notes"
    let domain: StorageDomain = .encryptedFileSystem(directory: .documents)
    let security: SecurityPolicy
    let serializer: Serializer = .data
    let owner = "NotesService"
    let description = "The user's notes."
  }
}

@Suite(.storage(.temporaryFolder)) struct ManualTests {
  private func useAVault() async {
    await StorageRouter.shared.updateStorageConfiguration(
      StorageConfiguration(
        defaultKeychainService: "com.myapp.keychain",
        defaultAppGroupIdentifier: "group.com.myapp", keychain: .vault))
  }

  @Test func aKeyIsSavedReadAndRemoved() async throws {
    await useAVault()
    await StorageRouter.shared.registerPasscode { try SecureBytes(Array("1234 5678".utf8)) }
    // Save
    let key = StorageKeys.UserTokenKey()
    try await StorageRouter.shared.set("token123", for: key)

    // Retrieve
    let token = try await StorageRouter.shared.get(key)
    #expect(token == "token123")

    // Remove
    try await StorageRouter.shared.remove(key)
    #expect(try await StorageRouter.shared.get(key) == nil)
  }

  @Test func theConfigurationsAreTakenOver() async throws {
    await useAVault()
    let config = EncryptionConfiguration(
      masterKeyService: "com.myapp.LocalData", masterKeyAccount: "MasterKey")
    await StorageRouter.shared.updateEncryptionConfiguration(config)

    let syncConfig = SyncConfiguration(maxAutoSyncSize: 50_000)  // 50KB limit
    await StorageRouter.shared.updateSyncConfiguration(syncConfig)

    let fileConfig = FileStorageConfiguration(subDirectory: "MyAppStorage")
    await StorageRouter.shared.updateFileStorageConfiguration(fileConfig)

    let key = StorageKeys.NotesKey(security: .recommended)
    try await StorageRouter.shared.set(Data("note".utf8), for: key)
    #expect(try await StorageRouter.shared.get(key) == Data("note".utf8))
    #expect(await StorageRouter.shared.encryptionConfiguration == config)
    #expect(await StorageRouter.shared.syncConfiguration == syncConfig)
    #expect(await StorageRouter.shared.fileStorageConfiguration == fileConfig)
  }

  @Test func theNamesAreThere() {
    // Seven, six, four and three, and the defaults that the manual names.
    #expect(KeychainAccessibility.allCases.count == 7)
    #expect(KeychainAccessControl.allCases.count == 6)
    #expect(StorageKeys.UserPreferencesKey().security == .recommended)
    #expect(
      SecurityPolicy.recommended == .encrypted(.chacha20Poly1305(keyDerivation: .hkdf())))
    #expect(SyncPolicy.allCases == [.never, .manual, .automaticSmall])
    #expect(SyncConfiguration().maxAutoSyncSize == 100_000)
    #expect(EncryptionConfiguration().masterKeyLength == 32)
    #expect(FileStorageConfiguration().subDirectory == nil)
    #expect(StorageConfiguration().defaultKeychainService == nil)
    let provider: any StorageProviding = StorageRouter.shared
    #expect(provider is StorageRouter)
    let custom = FileDirectory.custom(URL(fileURLWithPath: "/srv/data"))
    #expect(
      StorageDomain.appGroupFileSystem(id: "g", directory: custom).description
        == "appGroupFileSystem(g, /srv/data)")
    #expect(AnyStorageKey.key(StorageKeys.AppVersionKey()).descriptor.owner == "MigrationService")
  }
}
