import Foundation
import SecurePropertyStorage
import TestSupport
import Testing

/// The standard folders are the user's own unless scripts/private-env.sh made others.
private let isPrivate = ProcessInfo.processInfo.environment["SPS_PRIVATE_ENVIRONMENT"] == "1"

/// No key is made while a store exists that needs the key that is gone.
@Suite(.enabled(if: isPrivate, "run by make test, which gives it folders of its own"))
struct SecondKeyTests {
  private let application = "com.example.second-key-\(UUID().uuidString)"
  private let data: URL
  private let settings: URL
  private var key: KeySource { .file(data.appendingPathComponent("master.key")) }

  init() throws {
    func folder(_ variable: String, _ standard: String) -> URL {
      let environment = ProcessInfo.processInfo.environment
      return environment[variable].map { URL(fileURLWithPath: $0) }
        ?? URL(fileURLWithPath: NSHomeDirectory()).appendingPathComponent(standard)
    }
    data = folder("XDG_DATA_HOME", ".local/share").appendingPathComponent(application)
    settings = folder("XDG_CONFIG_HOME", ".config")
  }

  private func suite() -> UserDefaultsStorage {
    UserDefaultsStorage(suiteName: application, keySource: key)
  }

  private func vault() -> VaultStorage {
    VaultStorage(at: data.appendingPathComponent("default.vault"), keySource: key)
  }

  private func cleanUp() {
    for name in [
      "\(application).secure.plist", "\(application).secure.plist.lock",
      "\(application).needs-master.key",
    ] {
      try? FileManager.default.removeItem(at: settings.appendingPathComponent(name))
    }
    try? FileManager.default.removeItem(at: data)
  }

  @Test func aVaultMakesNoKeyWhileASuiteNeedsTheOneThatIsGone() throws {
    defer { cleanUp() }
    try suite().save("dark", forKey: "theme")
    let kept = try Data(contentsOf: data.appendingPathComponent("master.key"))
    try FileManager.default.removeItem(at: data)

    let error = #expect(throws: StorageError.self) { try vault().save("t", forKey: "token") }
    #expect(error?.code == .keyUnavailable)
    #expect(error?.path?.hasSuffix("\(application).secure.plist") == true)
    #expect(!FileManager.default.fileExists(atPath: data.path + "/master.key"))
    #expect(!FileManager.default.fileExists(atPath: data.path + "/default.vault"))

    try FileManager.default.createDirectory(
      at: data, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try kept.write(to: data.appendingPathComponent("master.key"))
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o600], ofItemAtPath: data.path + "/master.key")
    try vault().save("t", forKey: "token")
    #expect(try suite().load(String.self, forKey: "theme") == "dark")
  }

  @Test func whoRemovesTheSuiteTooGetsANewKey() throws {
    defer { cleanUp() }
    try suite().save("dark", forKey: "theme")
    try FileManager.default.removeItem(at: data)
    try FileManager.default.removeItem(
      at: settings.appendingPathComponent("\(application).secure.plist"))
    try vault().save("t", forKey: "token")
    #expect(try vault().load(String.self, forKey: "token") == "t")
    try suite().save("light", forKey: "theme")
    #expect(try suite().load(String.self, forKey: "theme") == "light")
  }

  @Test func storesBesideTheKeyAreNotNoted() throws {
    defer { cleanUp() }
    try vault().save("t", forKey: "token")
    let list = settings.appendingPathComponent("\(application).needs-master.key")
    #expect(!FileManager.default.fileExists(atPath: list.path))
    try FileManager.default.removeItem(at: data)
    try vault().save("new", forKey: "token")
  }

  @Test func aStoreThatNoLongerNeedsTheKeyKeepsNobodyFromMakingOne() throws {
    defer { cleanUp() }
    try suite().save("dark", forKey: "theme")
    try vault().save("t", forKey: "token")
    let passphrase = KeySource.passphrase("correct horse battery staple")
    try suite().keyAdministration.change(to: passphrase)
    try vault().keyAdministration.change(to: passphrase)
    for name in ["master.key", "master.key.made"] {
      try FileManager.default.removeItem(at: data.appendingPathComponent(name))
    }
    let other = VaultStorage(at: data.appendingPathComponent("other.vault"), keySource: key)
    try other.save("new", forKey: "token")
    #expect(FileManager.default.fileExists(atPath: data.path + "/master.key"))
  }

  @Test(arguments: ["a\nb", "e\u{301}", "100%", "a\u{1}%41b"])
  func anyPathIsNotedAsItIs(_ name: String) throws {
    defer { cleanUp() }
    let outside = FileManager.default.temporaryDirectory.appendingPathComponent(
      UUID().uuidString, isDirectory: true)
    try FileManager.default.createDirectory(
      at: outside, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: outside) }
    func at(_ name: String) -> VaultStorage {
      VaultStorage(at: outside.appendingPathComponent(name + ".vault"), keySource: key)
    }
    try at(name).save("t", forKey: "token")
    try FileManager.default.removeItem(at: data)
    for other in ["other", "\u{E9}"] {
      let error = #expect(throws: StorageError.self) { try at(other).save("t", forKey: "token") }
      #expect(error?.code == .keyUnavailable)
    }
    #expect(!FileManager.default.fileExists(atPath: data.path + "/master.key"))
  }

  /// The list of a process that was killed while it wrote ends in part of a path.
  @Test(arguments: ["/unfinis", "/", "/tmp", "", "unfinis", "."])
  func anUnfinishedLineIsPassedOver(_ line: String) throws {
    defer { cleanUp() }
    let list = settings.appendingPathComponent("\(application).needs-master.key")
    try FileManager.default.createDirectory(at: settings, withIntermediateDirectories: true)
    try Data(line.utf8).write(to: list)
    try vault().save("t", forKey: "token")
    try FileManager.default.removeItem(at: data)
    try suite().save("dark", forKey: "theme")
    try FileManager.default.removeItem(at: data)
    let error = #expect(throws: StorageError.self) { try vault().save("t", forKey: "token") }
    #expect(error?.code == .keyUnavailable)
    #expect(error?.path?.hasSuffix("\(application).secure.plist") == true)
  }
}
