import Foundation
import KeyringTesting
import StorageCore
import StorageTesting
import TestSupport
import Testing
import VaultBackend

@testable import KeyringBackend

@Suite struct KeySourceTests {
  /// A folder of a test's own, which goes with the test.
  private final class Folder: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    init() throws {
      try FileManager.default.createDirectory(
        at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FolderRemoval.remove(url) }
  }

  private let place: Folder
  private var folder: URL { place.url }

  init() throws { place = try Folder() }

  private func vault(_ source: KeySource) -> VaultStorage {
    VaultStorage(at: folder.appendingPathComponent("test.vault"), keySource: source)
  }

  private func source(
    _ client: KeyringClient, _ name: String, collection: String? = nil,
    access: KeyringAccess = .patient
  ) -> KeySource {
    .keyring(KeyringKey(name: name, collection: collection, access: access, client: client))
  }

  @Test func aProgramMayBeBootstrappedWithASourceThatNeedsItsName() async {
    await #expect(processExitsWith: .success) {
      let other = KeySource.desktop(access: KeyringAccess(prompts: .never))
      SecureStorage.bootstrap(
        applicationID: "com.example.program", keySource: .firstAvailable([.desktop, other]))
      #expect(SecureStorage.configuration.applicationID == "com.example.program")
    }
  }

  @Test func theSourceOfTheApplicationRemembersWhyItHadNoKey() throws {
    let bus = try PrivateBus()
    let access = KeyringAccess(deadline: .seconds(30), prompts: .never, bus: bus.address)
    let storage = vault(KeySource(deferred: { .keyring("name", access: access) }))
    do throws(StorageError) {
      try storage.save("value", forKey: "key")
      Issue.record("there is no service")
    } catch {
      #expect(error.code == .keyUnavailable)
      #expect(error.message.contains("no keyring service"))
    }
  }

  @Test func aVaultWhoseKeyIsInTheKeyringOpensWithIt() throws {
    let desktop = try Desktop()
    let name = Desktop.freshService()
    try vault(source(desktop.client, name)).save("kept", forKey: "key")
    let again = vault(source(desktop.anotherClient(), name))
    #expect(try again.load(String.self, forKey: "key") == "kept")
    #expect(
      code { _ = try vault(source(desktop.client, "another")).load(String.self, forKey: "key") }
        == .keyUnavailable)
  }

  @Test func laterReadsOfAVaultMakeNoCallOverTheBus() throws {
    let desktop = try FakeDesktop()
    let vault = vault(source(desktop.client, desktop.name))
    try vault.save("kept", forKey: "key")
    #expect(try vault.load(String.self, forKey: "key") == "kept")
    desktop.service.forgetCalls()
    for _ in 0..<100 { #expect(try vault.load(String.self, forKey: "key") == "kept") }
    try vault.save("new", forKey: "key")
    #expect(desktop.service.callCount() == 0)
  }

  @Test func aKeyThatIsGoneIsNotMadeAnew() throws {
    let desktop = try FakeDesktop()
    try vault(source(desktop.client, desktop.name)).save("kept", forKey: "key")
    let item = try #require(desktop.service.items.first)
    desktop.service.removeItem(item.path)
    let later = vault(source(desktop.client, desktop.name))
    #expect(code { try later.save("new", forKey: "key") } == .keyUnavailable)
    #expect(desktop.service.items.isEmpty)
    _ = desktop.service.addItem(
      label: item.label, attributes: item.attributes, secret: item.secret)
    #expect(try later.load(String.self, forKey: "key") == "kept")
  }

  @Test func anotherKeyInItsPlaceIsWrong() throws {
    let desktop = try FakeDesktop()
    try vault(source(desktop.client, desktop.name)).save("kept", forKey: "key")
    let item = try #require(desktop.service.items.first)
    let other = Data((0..<32).map { UInt8($0) }).base64EncodedString()
    desktop.service.setSecret(Array(other.utf8), of: item.path)
    let later = vault(source(desktop.client, desktop.name))
    #expect(code { _ = try later.load(String.self, forKey: "key") } == .wrongKey)
    desktop.service.setSecret([], of: item.path)
    let anew = vault(source(desktop.client, desktop.name))
    #expect(code { _ = try anew.load(String.self, forKey: "key") } == .damaged)
  }

  @Test func twoKeysOfTheNameAreAnErrorAndNeitherIsTaken() throws {
    let desktop = try FakeDesktop()
    try vault(source(desktop.client, desktop.name)).save("kept", forKey: "key")
    let item = try #require(desktop.service.items.first)
    _ = desktop.service.addItem(
      label: "copy", attributes: item.attributes, secret: item.secret)
    let later = vault(source(desktop.client, desktop.name))
    #expect(code { _ = try later.load(String.self, forKey: "key") } == .duplicate)
  }

  @Test(.ownDaemon) func aKeyIsFoundInWhateverCollectionItIs() throws {
    let desktop = try Desktop()
    let name = Desktop.freshService()
    _ = try desktop.keyring.createCollection(label: "Work")
    try vault(source(desktop.client, name, collection: "Work")).save("kept", forKey: "key")
    let later = vault(source(desktop.anotherClient(), name))
    #expect(try later.load(String.self, forKey: "key") == "kept")
    try desktop.keyring.lock("Work")
    let locked = vault(source(desktop.anotherClient(), name))
    #expect(code { _ = try locked.load(String.self, forKey: "key") } == .locked)
  }

  /// Without the rows of items that a store has, and a key has not.
  @Test(
    arguments: Depth.cases(
      FailureRow.all.filter {
        $0.read != nil && $0.read != .damaged && $0.group == nil && !$0.isFresh
      }, day: 5))
  func aKeyringThatFailsMakesNoNewKey(_ row: FailureRow) throws {
    let desktop = try FakeDesktop()
    try vault(source(desktop.client, desktop.name)).save("kept", forKey: "key")
    let before = desktop.service.items
    try row.goWrong(desktop)
    defer { desktop.bus.resume() }
    let later = vault(source(row.client ?? desktop.client, desktop.name, access: row.access))
    let found = try #require(row.read)
    let absent: Set<StorageError.Code> = [.noBus, .noService, .noCollection]
    let expected = absent.contains(found) ? .keyUnavailable : found
    #expect(code { try later.save("new", forKey: "key") } == expected)
    #expect(desktop.service.items == before)
  }

  @Test func aLadderGoesOnOnlyWhereThereIsNoKeyring() throws {
    let file = KeySource.file(folder.appendingPathComponent("master.key"))
    let desktop = try FakeDesktop()
    desktop.service.stop()
    let ladder = KeySource.firstAvailable([source(desktop.client, desktop.name), file])
    try vault(ladder).save("kept", forKey: "key")
    try desktop.service.restart()
    // What was chosen stays chosen.
    #expect(try vault(ladder).load(String.self, forKey: "key") == "kept")
    #expect(desktop.service.items.isEmpty)
  }

  @Test func aLadderStopsAtALockedKeyring() throws {
    let file = KeySource.file(folder.appendingPathComponent("master.key"))
    let desktop = try FakeDesktop(.init().with { $0.prompts = [.unlock] })
    desktop.service.lock()
    let ladder = KeySource.firstAvailable([
      source(desktop.client, desktop.name, access: .silent), file,
    ])
    #expect(code { try vault(ladder).save("new", forKey: "key") } == .locked)
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/master.key"))
  }

  @Test func whatIsSealedToThisDeviceHasNoKeyInTheKeyring() throws {
    let desktop = try FakeDesktop()
    let name = desktop.name
    let storage = KeychainStorage(
      accessGroup: nil, synchronizable: false, accessible: .whenUnlockedThisDeviceOnly,
      keySource: nil, access: .patient, client: desktop.client
    ) { name }
    try storage.save("kept", forKey: "key")
    #expect(desktop.service.items.allSatisfy { $0.attributes["xdg:schema"] == SealedItem.schema })
    #expect(try storage.load(String.self, forKey: "key") == "kept")
  }

  @Test func whatCanNotBeHadIsSaidWhenTheStorageIsMade() throws {
    #expect(code { _ = try KeychainStorage(service: "x", synchronizable: true) } == .unsupported)
    #expect(code { _ = try KeychainStorage(synchronizable: true) } == .unsupported)
    let passcode = Accessibility.whenPasscodeSetThisDeviceOnly
    #expect(code { _ = try KeychainStorage(service: "x", accessible: passcode) } == .unsupported)
    #expect(code { _ = try KeychainStorage(accessible: passcode) } == .unsupported)
    let opened = try KeychainStorage(
      service: "x", accessible: passcode, keySource: .passphrase("correct horse battery"))
    #expect(opened.accessible == passcode)
    for accessible in Accessibility.allCases where accessible != passcode {
      #expect(try KeychainStorage(service: "x", accessible: accessible).accessible == accessible)
    }
    #expect(code { try KeychainStorage(service: "a/b").save("new", forKey: "key") } == .invalid)
  }
}
