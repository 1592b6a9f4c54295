import CryptoCore
import Foundation
import StorageCore
import Testing

/// Several runs of one program, each a process of its own over the same folder.
@Suite struct NamedKeyTests {
  /// Starts of a program whose folder the environment names.
  private static func start(_ folder: String) {
    FileCalls.setVariable("XDG_DATA_HOME", folder)
    SecureStorage.bootstrap(
      applicationID: "app", keySource: .file(URL(fileURLWithPath: folder + "/named.key")))
  }

  /// Writes the key of a name to a file, for the next run to compare.
  private static func note(_ name: String, in folder: String) throws {
    let key = try SymmetricKey.generate(key: name)
    let bytes = key.withBytes { $0.copied() }
    try Data(bytes).write(to: URL(fileURLWithPath: folder + "/noted-\(UUID().uuidString)"))
  }

  private func noted(_ folder: TemporaryFolder) throws -> [Data] {
    try folder.contents().filter { $0.hasPrefix("noted") }
      .map { try Data(contentsOf: folder.file($0)) }
  }

  @Test func asyncCodeGetsTheSameKey() async throws {
    let folder = try TemporaryFolder()
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      NamedKeyTests.start(path)
      let made = try await SecureStorage.async { try SymmetricKey.generate(key: "one") }
      let same = try SymmetricKey.generate(key: "one")
      let other = try await SecureStorage.async { try SymmetricKey.generate(key: "two") }
      #expect(made == same && made != other)
      await #expect(throws: StorageError.self) {
        try await SecureStorage.async { try SymmetricKey.generate(key: "") }
      }
    }
  }

  @Test func processesThatStartAtOnceGetTheSameKey() async throws {
    let folder = try TemporaryFolder()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          await #expect(processExitsWith: .success) { [path = folder.path as String] in
            NamedKeyTests.start(path)
            try NamedKeyTests.note("one", in: path)
          }
        }
      }
    }
    let keys = try noted(folder)
    #expect(keys.count == 4 && Set(keys).count == 1)
    let left = try folder.contents().filter { !$0.hasPrefix("noted") }
    #expect(left == ["app", "named.key", "named.key.made"])
  }

  @Test func aLostSourceIsAnErrorAndNoNewKey() async throws {
    let folder = try TemporaryFolder()
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      NamedKeyTests.start(path)
      _ = try SymmetricKey.generate(key: "one")
    }
    try FileManager.default.removeItem(at: folder.file("named.key"))
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      NamedKeyTests.start(path)
      #expect(code { _ = try SymmetricKey.generate(key: "one") } == .keyUnavailable)
      #expect(code { _ = try SymmetricKey.generate(key: "two") } == .keyUnavailable)
    }
    #expect(try folder.contents() == ["app", "named.key.made"])
  }

  @Test func aFileThatIsGoneIsAnErrorAndGivesNoOtherKeys() async throws {
    let folder = try TemporaryFolder()
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      NamedKeyTests.start(path)
      try NamedKeyTests.note("one", in: path)
    }
    let held = try Data(contentsOf: folder.file("app/named-keys"))
    try FileManager.default.removeItem(at: folder.file("app/named-keys"))
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      NamedKeyTests.start(path)
      let failure = error { _ = try SymmetricKey.generate(key: "one") }
      #expect(failure?.code == .keyUnavailable)
      #expect(failure?.path == path + "/app/named-keys")
      #expect(failure?.message.contains(path + "/app/named-keys.made") == true)
      #expect(!FileManager.default.fileExists(atPath: path + "/app/named-keys"))
    }
    // Put back, it gives the same keys again; also without its marker, as an older version left it.
    try held.write(to: folder.file("app/named-keys"))
    try FileManager.default.removeItem(at: folder.file("app/named-keys.made"))
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      NamedKeyTests.start(path)
      try NamedKeyTests.note("one", in: path)
      #expect(FileManager.default.fileExists(atPath: path + "/app/named-keys.made"))
    }
    let keys = try noted(folder)
    #expect(keys.count == 2 && Set(keys).count == 1)
  }

  @Test func aSecondBootstrapEndsTheProcess() async {
    await #expect(processExitsWith: .failure) {
      SecureStorage.bootstrap(applicationID: "a")
      SecureStorage.bootstrap(applicationID: "a")
    }
    await #expect(processExitsWith: .failure) {
      _ = SecureStorage.configuration
      SecureStorage.bootstrap(applicationID: "a")
    }
  }

  @Test(arguments: ["", "..", "a/b", "a\nb", String(repeating: "x", count: 129)])
  func anApplicationIDThatCantNameAFileIsInvalid(_ id: String) async throws {
    let folder = try TemporaryFolder()
    await #expect(processExitsWith: .success) { [id, path = folder.path as String] in
      FileCalls.setVariable("XDG_DATA_HOME", path)
      SecureStorage.bootstrap(applicationID: id)
      #expect(code { _ = try SymmetricKey.generate() } == .invalid)
      let storage = DelegatedStorage.quiet(OpenDelegate(), .automatic)
      #expect(code { try storage.save(1, forKey: "k") } == .invalid)
    }
    #expect(try folder.contents().isEmpty)
  }
}
