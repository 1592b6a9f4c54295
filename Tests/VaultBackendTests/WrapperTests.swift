import Foundation
import TestSupport
import Testing
import VaultBackend

/// The family of property wrappers, over a vault of one's own and over the standard one.
@Suite struct WrapperTests {
  struct User: Codable, Equatable, Sendable {
    var name: String
    var roles: [String] = []
  }

  /// Type and rights of what a program says a value is, in a file of its own.
  struct Settings: Sendable {
    @Vault var token: String?
    @Vault var region: String?
    @UnwrappedVault var launches: Int
    @CodableVault var user: User?
    @CodableVault var admin: User?
    @CodableVault var list: [User]?
    @UnwrappedCodableVault var guest: User

    init(_ storage: VaultStorage) {
      _token = Vault(storage, "token")
      _region = Vault(wrappedValue: "eu", storage, "region")
      _launches = UnwrappedVault(wrappedValue: 0, storage, "launches")
      _user = CodableVault(storage, "user")
      _admin = CodableVault(wrappedValue: User(name: "root"), storage, "admin")
      _list = CodableVault(storage, "list", coding: .propertyList)
      _guest = UnwrappedCodableVault(wrappedValue: User(name: "guest"), storage, "guest")
    }
  }

  private let vault = TemporaryVault()

  /// As the article of VaultBackend says.
  @Test func aCodableTypeOfOnesOwnIsKeptAlikeByBothWrappersAndASimpleOneIsNot() throws {
    let storage = vault.storage()
    let ada = User(name: "Ada")
    try Vault<User>(storage, "user").save(ada)
    #expect(try CodableVault<User>(storage, "user").load() == ada)
    try CodableVault<User>(storage, "user").save(ada)
    #expect(try Vault<User>(storage, "user").load() == ada)
    try CodableVault<String>(storage, "text").save("text")
    #expect(code { _ = try Vault<String>(storage, "text").load() } == .typeMismatch)
    struct Plain {}
    let plain = Vault<Plain>(storage, "plain")
    #expect(try plain.load() == nil)
    #expect(code { try plain.save(Plain()) } == .unsupported)
  }

  @Test func whatPropertiesAreGivenIsThereWhenTheVaultIsOpenedAgain() throws {
    let ada = User(name: "Ada", roles: ["admin", "author"])
    do {
      let storage = vault.storage()
      let settings = Settings(storage)
      #expect(settings.token == nil && settings.user == nil && settings.list == nil)
      #expect(settings.region == "eu" && settings.admin == User(name: "root"))
      #expect(settings.launches == 0 && settings.guest == User(name: "guest"))
      // A default is stored for those that can be nil, and only for those.
      #expect(try storage.keys().sorted() == ["admin", "region"])
      settings.token = "secret"
      settings.launches += 1
      settings.user = ada
      settings.admin?.roles.append("all")
      settings.list = [ada, ada]
      settings.guest.name = "Grace"
    }
    #expect(try vault.run("load", "token") == "secret")
    let again = Settings(vault.storage())
    #expect(again.token == "secret" && again.launches == 1 && again.user == ada)
    #expect(again.admin == User(name: "root", roles: ["all"]) && again.list == [ada, ada])
    #expect(again.guest == User(name: "Grace"))
    again.user = nil
    again.list = nil
    try again.$guest.remove()
    #expect(again.user == nil && again.list == nil && again.guest == User(name: "guest"))
    #expect(
      try vault.storage().keys().sorted() == ["admin", "launches", "region", "token"])
  }

  @Test func codablePropertiesAreChangedInOneStepAndToldOfAnothersChanges() async throws {
    let (one, other) = (Settings(vault.storage()), Settings(vault.storage()))
    Threads.run(4) { _ in
      for _ in 0..<25 {
        noError {
          try one.$guest.update { $0.roles.append("one") }
          try other.$user.update { $0 = User(name: "n", roles: ($0?.roles ?? []) + ["other"]) }
        }
      }
    }
    #expect(other.guest.roles.count == 100)
    #expect(one.user?.roles.count == 100)
    var values = one.$user.values.makeAsyncIterator()
    #expect(await values.next()??.roles.count == 100)
    try other.$user.save(User(name: "told"))
    #expect(await values.next() == .some(User(name: "told")))
  }

  @Test func aCodablePropertyThatCantBeReadIsNoDefaultAndIsNotReplaced() throws {
    let storage = vault.storage()
    try storage.save("text", forKey: "guest")
    try storage.save(5, forKey: "admin")
    let codes = Lock<[StorageError.Code]>([])
    storage.errorClosure = { error in
      codes.withLock { $0.append((error as? StorageError)?.code ?? .io) }
    }
    let settings = Settings(storage)
    #expect(settings.admin == nil)
    #expect(code { _ = try settings.$guest.load() } == .typeMismatch)
    #expect(code { try settings.$guest.update { $0.name = "new" } } == .typeMismatch)
    #expect(code { try settings.$admin.update { $0 = User(name: "new") } } == .typeMismatch)
    #expect(codes.withLock { $0.allSatisfy { $0 == .typeMismatch } && !$0.isEmpty })
    #expect(try storage.load(String.self, forKey: "guest") == "text")
    #expect(try storage.load(Int.self, forKey: "admin") == 5)
  }

  // MARK: - The standard vault

  @Test func propertiesOfTheStandardVaultAreKeptInTheApplicationsFolder() throws {
    let environment: [String: String?] = [
      "XDG_DATA_HOME": vault.file("data").path, "HOME": vault.folder.path,
      "CREDENTIALS_DIRECTORY": nil, "STATE_DIRECTORY": nil,
    ]
    func use(_ value: String) throws -> [String] {
      try helper.run("standard", "org.example.tool", value, environment: environment)
    }
    let end = ["stored admin guest launches region token user"]
    #expect(
      try use("one") == [
        "nil eu 0 [] root guest", "one one-region 1 [\"one\"] one-admin one-guest",
      ] + end + ["token one", "sound"])
    #expect(
      try use("two") == [
        "one one-region 1 [\"one\"] one-admin one-guest",
        "two two-region 2 [\"two\"] two-admin two-guest",
      ] + end + ["token two", "sound"])
    let folder = vault.file("data/org.example.tool")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.contains("default.vault") && names.contains("master.key"))
    let key = KeySource.file(folder.appendingPathComponent("master.key"))
    let storage = VaultStorage(at: folder.appendingPathComponent("default.vault"), keySource: key)
    #expect(try storage.load(String.self, forKey: "token") == "two")
  }

  @Test func underSystemdTheStandardVaultIsInTheStateFolderWithTheKeyOfItsCredential() throws {
    for name in ["state", "credentials"] {
      try FileManager.default.createDirectory(
        at: vault.file(name), withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
    }
    let key = Data(repeating: 3, count: 32)
    try vault.put(Array(key.base64EncodedString().utf8), "credentials/securestorage-key")
    let environment: [String: String?] = [
      "STATE_DIRECTORY": vault.file("state").path + ":/nowhere", "HOME": nil,
      "CREDENTIALS_DIRECTORY": vault.file("credentials").path,
    ]
    let said = try helper.run("standard", "org.example.tool", "one", environment: environment)
    #expect(said.last == "sound", "\(said)")
    #expect(vault.entries == ["credentials", "state"])
    let names = try FileManager.default.contentsOfDirectory(atPath: vault.file("state").path)
    #expect(names.contains("default.vault") && !names.contains("master.key"))
  }

  @Test func anApplicationIDThatCantNameAFolderIsAnErrorOfEveryProperty() throws {
    let environment: [String: String?] = [
      "XDG_DATA_HOME": vault.file("data").path, "CREDENTIALS_DIRECTORY": nil,
      "STATE_DIRECTORY": nil,
    ]
    let said = try helper.run("standard", "../other", "one", environment: environment)
    #expect(said.last == "error invalid")
    #expect(said.contains("said invalid"))
    #expect(!said.contains { $0.hasPrefix("one") })
    #expect(vault.entries == [])
  }
}
