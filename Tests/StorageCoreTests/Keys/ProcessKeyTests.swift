import CryptoCore
import Foundation
import StorageCore
import StorageTesting
import Testing

/// What depends on the environment of the process runs in a process of its own.
@Suite struct ProcessKeyTests {
  @Test func anEnvironmentVariableOpensWhatItMade() async {
    await #expect(processExitsWith: .success) {
      let delegate = OpenDelegate()
      let source = KeySource.environment("SPS_TEST_KEY")
      #expect(code { try DelegatedStorage.quiet(delegate, source).open() } == .keyUnavailable)
      FileCalls.setVariable("SPS_TEST_KEY", "")
      #expect(code { try DelegatedStorage.quiet(delegate, source).open() } == .damaged)
      #expect(try delegate.header().header == nil)

      let key = Data([UInt8](repeating: 3, count: 32)).base64EncodedString()
      FileCalls.setVariable("SPS_TEST_KEY", key)
      try DelegatedStorage.quiet(delegate, source).save(1, forKey: "k")
      #expect(try DelegatedStorage.quiet(delegate, source).load(forKey: "k") == 1)
      let slots = try DelegatedStorage.quiet(delegate, source).keyAdministration.slots()
      #expect(slots.map(\.identifier) == ["SPS_TEST_KEY"])

      for other in ["a passphrase", String(key.dropLast()), key.lowercased()] {
        FileCalls.setVariable("SPS_TEST_KEY", other)
        let storage = DelegatedStorage.quiet(delegate, source)
        #expect(code { _ = try storage.load(Int.self, forKey: "k") } == .wrongKey)
      }
      FileCalls.setVariable("SPS_TEST_OTHER", key)
      let renamed = DelegatedStorage.quiet(delegate, .environment("SPS_TEST_OTHER"))
      #expect(code { _ = try renamed.load(Int.self, forKey: "k") } == .keyUnavailable)
    }
  }

  @Test func aSystemdCredentialOpensWhatItMade() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let delegate = OpenDelegate()
      let source = KeySource.systemdCredential("store")
      #expect(code { try DelegatedStorage.quiet(delegate, source).open() } == .keyUnavailable)
      FileCalls.setVariable("CREDENTIALS_DIRECTORY", folder.path)
      #expect(code { try DelegatedStorage.quiet(delegate, source).open() } == .keyUnavailable)

      let key = Data([UInt8](repeating: 3, count: 32)).base64EncodedString()
      // systemd rules who may read it: its permissions are not ours to judge.
      try folder.write(key, to: "store", permissions: 0o640)
      try DelegatedStorage.quiet(delegate, source).save(1, forKey: "k")
      #expect(try DelegatedStorage.quiet(delegate, source).load(forKey: "k") == 1)
      try folder.write("", to: "store")
      let storage = DelegatedStorage.quiet(delegate, source)
      #expect(code { _ = try storage.load(Int.self, forKey: "k") } == .damaged)
      for name in ["", ".", "..", "a/b", "/etc/passwd"] {
        let storage = DelegatedStorage.quiet(OpenDelegate(), .systemdCredential(name))
        #expect(code { try storage.open() } == .invalid)
      }
    }
  }

  @Test func theAutomaticSourceMakesAKeyFileAndPrefersACredential() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      FileCalls.setVariable("XDG_DATA_HOME", folder.path)
      SecureStorage.bootstrap(applicationID: "com.example.test")
      let delegate = OpenDelegate()
      try DelegatedStorage.quiet(delegate, .automatic).save(1, forKey: "k")
      #expect(try folder.contents() == ["com.example.test"])
      let master = folder.path + "/com.example.test/master.key"
      #expect(FileManager.default.fileExists(atPath: master))

      // A credential that comes later is not what this store was made with.
      let credentials = try TemporaryFolder()
      let key = Data([UInt8](repeating: 3, count: 32)).base64EncodedString()
      try credentials.write(key, to: "securestorage-key")
      FileCalls.setVariable("CREDENTIALS_DIRECTORY", credentials.path)
      #expect(try DelegatedStorage.quiet(delegate, .automatic).load(forKey: "k") == 1)

      let other = OpenDelegate()
      try DelegatedStorage.quiet(other, .automatic).save(1, forKey: "k")
      let slots = try DelegatedStorage.quiet(other, .automatic).keyAdministration.slots()
      #expect(slots.map(\.kind) == ["systemd credential"])
    }
  }

  @Test func aNamedKeyIsTheSameInEveryRunAndItsSourceIsNeverReplaced() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      FileCalls.setVariable("XDG_DATA_HOME", folder.path)
      SecureStorage.bootstrap(
        applicationID: "app", keySource: .file(folder.file("named.key")))
      let key = try SymmetricKey.generate(key: "one")
      #expect(key.bitCount == 256)
      #expect(try SymmetricKey.generate(key: "one") == key)
      #expect(try SymmetricKey.generate(key: "two") != key)
      #expect(try SymmetricKey.generate() != key)
      #expect(code { _ = try SymmetricKey.generate(key: "") } == .invalid)
      let long = String(repeating: "x", count: 1025)
      #expect(code { _ = try SymmetricKey.generate(key: long) } == .invalid)
      #expect(try folder.contents() == ["app", "named.key", "named.key.made"])
    }
  }
}
