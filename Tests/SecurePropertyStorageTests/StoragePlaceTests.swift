import Foundation
import SecurePropertyStorage
import StorageTesting
import Testing

/// A storage says where its values are.
@Suite struct StoragePlaceTests {
  private static let key = KeySource.key(SymmetricKey(data: Data(repeating: 3, count: 32)))

  private func withFolder(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent(UUID().uuidString, isDirectory: true)
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FolderRemoval.remove(folder) }
    try body(folder)
  }

  @Test func aStorageInAFileHasItsURLBeforeAndAfterItsFirstUse() throws {
    try withFolder { folder in
      let vault = VaultStorage(
        at: folder.appendingPathComponent("a.vault"), keySource: Self.key)
      let suite = UserDefaultsStorage(
        at: folder.appendingPathComponent("a.secure.plist"), keySource: Self.key)
      for storage in [vault, suite] as [DelegatedStorage] {
        let url = try #require(storage.url)
        #expect(url.isFileURL && !FileManager.default.fileExists(atPath: url.path))
        try storage.save(1, forKey: "k")
        #expect(storage.url == url && FileManager.default.fileExists(atPath: url.path))
      }
      #expect(vault.url?.lastPathComponent == "a.vault")
      let files = SealedFolder(at: folder.appendingPathComponent("files"), keySource: Self.key)
      #expect(files.url?.standardizedFileURL.path == folder.path + "/files")
    }
  }

  @Test func whatIsInNoFileHasNone() {
    #expect(SingletonStorage().url == nil)
    #expect(InMemoryStorage().url == nil)
    #expect(KeychainStorage(service: "com.example.test", keySource: Self.key).url == nil)
  }

  @Test(.storage()) func theStandardStoragesOfATestInMemoryHaveNone() {
    #expect(VaultStorage.standard.url == nil && UserDefaultsStorage.standard.url == nil)
    #expect(SealedFolder.standard.url == nil)
  }

  @Test(.storage(.temporaryFolder)) func thoseOfATestInAFolderHaveTheirs() throws {
    try VaultStorage.standard.save(1, forKey: "k")
    let url = try #require(VaultStorage.standard.url)
    #expect(FileManager.default.fileExists(atPath: url.path))
  }

  @Test func aSuiteOfAFileIsThatOfItsName() throws {
    try withFolder { folder in
      let url = folder.appendingPathComponent("com.example.secure.plist")
      let suite = UserDefaultsStorage(at: url, keySource: Self.key)
      try suite.save("x", forKey: "k")
      let again = UserDefaultsStorage(at: url, keySource: Self.key)
      #expect(try again.load(String.self, forKey: "k") == "x")
      #expect(again.url?.resolvingSymlinksInPath() == url.resolvingSymlinksInPath())
      for name in ["com.example.plist", ".secure.plist", "a.vault", "secure.plist"] {
        let other = UserDefaultsStorage(
          at: folder.appendingPathComponent(name), keySource: Self.key)
        let refusal = #expect(throws: StorageError.self) { try other.save(1, forKey: "k") }
        #expect(refusal?.code == .invalid, "\(name)")
      }
      let remote = UserDefaultsStorage(
        at: URL(string: "https://a.example/a.secure.plist")!, keySource: Self.key)
      #expect(throws: StorageError.self) { try remote.load(Int.self, forKey: "k") }
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy {
          $0.contains("com.example.secure.plist")
        })
    }
  }
}
