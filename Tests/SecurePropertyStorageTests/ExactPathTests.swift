import CryptoCore
import Foundation
import SecurePropertyStorage
import StorageTesting
import Testing

/// Two paths that differ only in how a letter is composed are two files, so they are two stores.
@Suite struct ExactPathTests {
  private let folder: URL
  private static let forms = ["\u{E9}", "e\u{301}"]

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  private func keepApart(_ make: (String) throws -> any Storage) throws {
    defer { try? FolderRemoval.remove(folder) }
    #expect(Self.forms[0] == Self.forms[1], "Swift compares what they show")
    let both = try Self.forms.map(make)
    for (storage, value) in zip(both, ["composed", "decomposed"]) {
      try storage.save(value, forKey: "key")
    }
    #expect(try both.map { try $0.load(String.self, forKey: "key") } == ["composed", "decomposed"])
    try both[1].save("new", forKey: "key")
    #expect(try both[0].load(String.self, forKey: "key") == "composed")
    // Also for who opens only one of them.
    let again = try make(Self.forms[1])
    #expect(try again.load(String.self, forKey: "key") == "new")
  }

  @Test func vaultsAreKeptApart() throws {
    try keepApart {
      VaultStorage(
        at: folder.appendingPathComponent($0 + ".vault"), keySource: .key(SymmetricKey.test))
    }
  }

  @Test func suitesAreKeptApart() throws {
    try keepApart {
      UserDefaultsStorage(
        DefaultsDelegate(folder: folder.path, suiteName: $0), keySource: .key(SymmetricKey.test))
    }
  }

  @Test func sealedFoldersAreKeptApart() throws {
    defer { try? FolderRemoval.remove(folder) }
    let both = Self.forms.map {
      SealedFolder(
        at: folder.appendingPathComponent($0, isDirectory: true),
        keySource: .key(SymmetricKey.test))
    }
    for (folder, byte) in zip(both, [1, 2] as [UInt8]) {
      try folder.write(Data([byte]), named: "name")
    }
    #expect(try both.map { try $0.read(named: "name") } == [Data([1]), Data([2])])
  }

  @Test func keysAreKeptApart() throws {
    defer { try? FolderRemoval.remove(folder) }
    let storage = SingletonStorage(
      SingletonStorageDelegate(), keySource: .key(SymmetricKey.test))
    for form in Self.forms { try storage.save(form.utf8.count, forKey: form) }
    #expect(try Self.forms.map { try storage.load(Int.self, forKey: $0) } == [2, 3])
  }
}

extension SymmetricKey {
  fileprivate static let test = SymmetricKey(data: Data(repeating: 7, count: 32))
}
