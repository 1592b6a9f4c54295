import Foundation
import LocalData
import Testing

/// An application's values in every place, its owner, and a thief who has its old key and an old
/// copy.
struct RotatedApplication {
  static let old = KeySource.key(TestFolder.key)
  static let new = KeySource.key(SymmetricKey(data: Data(repeating: 8, count: 32)))

  static let ledger = "data/com.example.app/localdata.vault"

  let folder = TestFolder()
  /// The thief's copy of the folder, from before the rotation.
  let stolen = TestFolder()

  /// The keys, each with the file that has its value, below the folder.
  var keys: [(key: StoredKey<String>, file: String)] {
    let custom = folder.url.appendingPathComponent("custom", isDirectory: true)
    let data = "data/com.example.app/"
    return [
      (key("token", .keychain(service: "com.example")), data + "keychain.vault"),
      (
        key(
          "place", .keychain(service: "com.example"),
          .keychain(accessibility: .afterFirstUnlock)),
        data + "keychain.vault"
      ),
      (key("setting", .userDefaults), "config/com.example.app.localdata.secure.plist"),
      (key("suite", .userDefaults(suite: "own")), "config/own.secure.plist"),
      (key("document", .fileSystem(directory: .documents)), data + "Documents/document"),
      (key("cached", .fileSystem(directory: .caches)), "cache/com.example.app/cached"),
      (key("elsewhere", .fileSystem(directory: .custom(custom))), "custom/elsewhere"),
      (
        key("sealed", .encryptedFileSystem(directory: .documents)),
        data + "Documents/.sealed/index.vault"
      ),
      (
        key("shared", .appGroupUserDefaults(identifier: "group.test")),
        "groups/group.test/defaults.plist"
      ),
      (
        key("report", .appGroupFileSystem(id: "group.test", directory: .documents)),
        "groups/group.test/Documents/report"
      ),
    ]
  }

  /// Those whose file anybody can write whose value is under the master key or the group's key.
  var plainFiles: [(key: StoredKey<String>, file: String)] {
    keys.filter { !$0.file.hasSuffix(".vault") && !$0.file.hasSuffix(".secure.plist") }
  }

  func router(_ sources: KeySource...) -> StorageRouter {
    StorageRouter(
      applicationID: "com.example.app", keySource: .firstAvailable(sources),
      folder: folder.url, configuration: StorageConfiguration(keychain: .vault))
  }

  /// Stores `text` under every key.
  func fill(_ text: String, _ router: StorageRouter) async throws {
    for (key, _) in keys { try await router.set(text, for: key) }
  }

  /// Stores values under the old keys, copies the folder with them, and stores `text` instead.
  ///
  /// What somebody with the old keys can seal is in the copy, at the same paths.
  func fillAfterTheft(_ text: String) async throws {
    let owner = router(Self.old)
    try await fill("forged", owner)
    try steal()
    try await fill(text, owner)
  }

  /// Copies the folder for the thief.
  func steal() throws { try copy("", from: folder, to: stolen) }

  /// Copies a file or folder, with what belongs to a vault.
  func copy(_ file: String, from: TestFolder, to: TestFolder) throws {
    for ending in file.hasSuffix(".vault") ? ["", "-wal", "-shm"] : [""] {
      let (source, target) = (from.path + "/" + file + ending, to.path + "/" + file + ending)
      try? FileManager.default.removeItem(atPath: target)
      guard FileManager.default.fileExists(atPath: source) else { continue }
      try FileManager.default.copyItem(atPath: source, toPath: target)
    }
  }

  /// Removes a vault.
  func remove(_ file: String) {
    for ending in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: folder.path + "/" + file + ending)
    }
  }

  /// That every key has this value.
  func requireValues(
    _ text: String, _ router: StorageRouter, _ hint: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    for (key, _) in keys {
      #expect(
        try await router.get(key) == text, "\(key.domain) \(hint)", sourceLocation: sourceLocation)
    }
  }
}
