import CryptoCore
import DefaultsBackend
import Foundation
import StorageCore
import TestSupport
import Testing

@Suite struct StorageTests {
  private func storage(_ folder: TemporaryFolder) -> UserDefaultsStorage {
    UserDefaultsStorage(folder.delegate(), keySource: .key(sampleKey))
  }

  @Test func anInitialiserOfTheAppleShapeIsNilForANameThatCantBe() {
    for name in ["", "a/b", ".."] {
      #expect(UserDefaultsStorage(suiteName: name, symmetricKey: sampleKey) == nil)
    }
    #expect(UserDefaultsStorage(suiteName: "com.example", symmetricKey: sampleKey) != nil)
  }

  @Test func aStorageWithoutAKeyFailsAtEveryUseAndStoresNothing() throws {
    let storage = try #require(UserDefaultsStorage(suiteName: "without-key", symmetricKey: nil))
    #expect(code { try storage.save("value", forKey: "key") } == .keyUnavailable)
  }

  @Test func foundationsUserDefaultsReadsTheFileInTheConfigurationFolder() throws {
    let folder = TemporaryFolder()
    let environments: [[String: String?]] = [
      ["XDG_CONFIG_HOME": folder.path + "/config", "HOME": folder.path],
      ["XDG_CONFIG_HOME": nil, "HOME": folder.path],
    ]
    for (environment, place) in zip(environments, ["/config", "/.config"]) {
      #expect(try helper.run("public", "-", "app", environment: environment) == ["value"])
      let read = try helper.run("user-defaults", "-", "app.secure", environment: environment)
      let file = folder.path + place + "/app.secure.plist"
      let data = try #require(FileManager.default.contents(atPath: file))
      let list = try unsafe PropertyListSerialization.propertyList(from: data, format: nil)
      let expected = try #require(list as? [String: Data]).map { "\($0) \(Array($1))" }
      #expect(read.count == 2 && Set(read) == Set(expected))
    }
  }

  @Test func theStandardStorageIsNamedForTheApplication() throws {
    let folder = TemporaryFolder()
    let environment: [String: String?] = [
      "XDG_CONFIG_HOME": folder.path + "/config", "XDG_DATA_HOME": folder.path + "/data",
      "CREDENTIALS_DIRECTORY": nil, "STATE_DIRECTORY": nil,
    ]
    #expect(try helper.run("standard", "-", "org.example", environment: environment) == ["value"])
    let file = folder.path + "/config/org.example.secure.plist"
    #expect(FileManager.default.fileExists(atPath: file))
    #expect(try helper.run("standard", "-", "a/b", environment: environment) == ["error invalid"])
  }

  @Test func plainValuesAreMovedInAndOthersValuesAreLeftAlone() throws {
    let folder = TemporaryFolder()
    let environment: [String: String?] = ["XDG_CONFIG_HOME": folder.path, "HOME": folder.path]
    let lines = try helper.run("migrate", folder.path, environment: environment)
    #expect(
      lines == [
        "moved text number flag ratio bytes list table", "conflicting taken", "absent missing",
        "values secret ours 42", "true 0.5", "[1, 2]", "[\"a\", \"b\"]", "[\"one\": 1]",
        "left [\"taken\", \"other\"]",
      ])
    let plain = try #require(FileManager.default.contents(atPath: folder.path + "/plain.plist"))
    #expect(plain.range(of: Data("secret".utf8)) == nil)
    #expect(plain.range(of: Data("theirs".utf8)) != nil)
  }
}
