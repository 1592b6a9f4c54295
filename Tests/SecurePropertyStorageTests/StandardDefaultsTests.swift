import Foundation
import SecurePropertyStorage
import Testing

/// The standard folders are the user's own unless scripts/private-env.sh made others.
private let isPrivate = ProcessInfo.processInfo.environment["SPS_PRIVATE_ENVIRONMENT"] == "1"

private enum Theme: String, Codable { case dark, light }

@Suite(.enabled(if: isPrivate, "run by make test, which gives it folders of its own"))
struct StandardDefaultsTests {
  private struct Settings {
    @UserDefault("standard.username") var username: String?
    @UnwrappedUserDefault("standard.launches") var launches = 0
    @CodableUserDefault("standard.theme") var theme: Theme?
    @UnwrappedCodableUserDefault("standard.both") var both = Theme.dark
  }

  @Test func propertiesOfTheStandardStorageAreKeptUnderTheBootstrappedKey() throws {
    let settings = Settings()
    settings.username = "alice"
    settings.launches += 1
    try settings.$launches.update { $0 += 1 }
    settings.theme = .light
    settings.both = .light
    let again = Settings()
    #expect(again.username == "alice" && again.launches == 2)
    #expect(again.theme == .light && again.both == .light)
    let key = try SymmetricKey.generate(key: "standard")
    let (same, other) = (
      try SymmetricKey.generate(key: "standard"), try SymmetricKey.generate(key: "other")
    )
    #expect(key == same)
    #expect(key != other)
  }

  @Test func aSuiteWithAKeyOfItsOwnIsTheFailableInitialiserOfTheApplePackage() throws {
    let key = SymmetricKey(size: .bits256)
    let storage = try #require(
      UserDefaultsStorage(suiteName: "compat.suite", symmetricKey: key))
    storage.set("sealed", forKey: "name")
    #expect(storage.string(forKey: "name") == "sealed")
    #expect(UserDefaultsStorage(suiteName: "no/suite", symmetricKey: key) == nil)
    let other = UserDefaultsStorage(
      suiteName: "compat.suite", keySource: .key(.init(size: .bits256)))
    let error = #expect(throws: StorageError.self) { try other.load(String.self, forKey: "name") }
    #expect(error?.code == .wrongKey)
  }
}
