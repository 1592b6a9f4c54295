import CryptoCore
import DefaultsBackend
import Foundation
import StorageCore
import Testing

/// Why a suite does not open: each error tells the case, and the file that it is about.
@Suite struct KeyErrorTests {
  private let folder = TemporaryFolder()
  private let keys = TemporaryFolder()
  private var keyFile: String { keys.path + "/suite.key" }

  private func storage(_ source: KeySource) -> UserDefaultsStorage {
    UserDefaultsStorage(folder.delegate(), keySource: source)
  }

  /// What reading and writing say alike.
  private func failure(_ source: KeySource) throws -> StorageError {
    let storage = storage(source)
    let read = error { _ = try storage.load(String.self, forKey: "key") }
    #expect(error { try storage.save("new", forKey: "key") } == read)
    return try #require(read)
  }

  private func error(_ body: () throws -> Void) -> StorageError? {
    do {
      try body()
      return nil
    } catch {
      return error as? StorageError
    }
  }

  private var file: KeySource { .file(URL(fileURLWithPath: keyFile)) }

  @Test func anotherKeyFileIsNamedWithItsSuite() throws {
    try storage(file).save("value", forKey: "key")
    let other = Data(repeating: 9, count: 32).base64EncodedString()
    try Data(other.utf8).write(to: URL(fileURLWithPath: keyFile))
    let failure = try failure(file)
    #expect(failure.code == .wrongKey)
    #expect(failure.path == keyFile)
    #expect(failure.message.contains("does not open the store \(folder.file)"))
    #expect(!failure.description.contains(other))
  }

  @Test func aKeyFileThatIsGoneIsNamedWithItsSuite() throws {
    try storage(file).save("value", forKey: "key")
    try FileManager.default.removeItem(atPath: keyFile)
    let failure = try failure(file)
    #expect(failure.code == .keyUnavailable)
    #expect(failure.path == keyFile)
    #expect(failure.message.contains("the key file that opens the store \(folder.file) is gone"))
  }

  @Test func aSourceThatIsMissingIsToldWithTheSuite() throws {
    let name = "SPS_TEST_KEY_\(UInt32.random(in: 0 ... .max))"
    #expect(unsafe setenv(name, Data(repeating: 9, count: 32).base64EncodedString(), 1) == 0)
    try storage(.environment(name)).save("value", forKey: "key")
    #expect(unsafe unsetenv(name) == 0)
    for source in [KeySource.environment(name), .key(sampleKey), .firstAvailable([])] {
      let failure = try failure(source)
      #expect(failure.code == .keyUnavailable)
      #expect(failure.path == folder.file)
      #expect(failure.message.contains("opens only with environment \(name)"))
      #expect(!failure.message.contains("gone"))
    }
  }

  @Test func anotherKeyOrPassphraseIsToldWithTheSuite() throws {
    try storage(.passphrase("right", derivation: .scrypt(cost: 16).withoutFloor)).save(
      "value", forKey: "key")
    let failure = try failure(.passphrase("a wrong one"))
    #expect(failure.code == .wrongKey)
    #expect(failure.path == folder.file)
    #expect(failure.message.contains("the passphrase is not the right one for this store"))
    #expect(!failure.description.contains("a wrong one"))
  }

  @Test func aRecoveryKeyIsSpokenOfOnlyWhereThereIsOne() throws {
    let right = KeySource.passphrase("right", derivation: .scrypt(cost: 16).withoutFloor)
    try storage(right).save("value", forKey: "key")
    #expect(try !failure(.passphrase("wrong")).message.contains("recovery key"))
    _ = try storage(right).keyAdministration.exportRecoveryKey()
    #expect(try failure(.passphrase("wrong")).message.contains("with its recovery key"))
  }
}
