import Foundation
import Testing

@testable import VaultBackend

@Suite struct BackupTests {
  private let vault = TemporaryVault()
  private var copy: URL { vault.file("copy.vault") }

  private func fill() throws -> VaultStorage {
    let storage = vault.storage()
    for index in 0..<50 { try storage.save("value \(index)", forKey: "key \(index)") }
    return storage
  }

  private func open(_ url: URL) -> VaultStorage {
    VaultStorage(at: url, keySource: .key(TemporaryVault.key))
  }

  @Test func aBackupIsAVaultThatStandsAlone() throws {
    let storage = try fill()
    try storage.backup(to: copy)
    #expect(!vault.entries.contains { $0.hasPrefix("copy.vault-") || $0.hasSuffix(".new") })
    let attributes = try FileManager.default.attributesOfItem(atPath: copy.path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(try open(copy).load(String.self, forKey: "key 49") == "value 49")
    #expect(try open(copy).verify().isSound)
  }

  @Test func aBackupReplacesNothingUnlessTold() throws {
    let storage = try fill()
    try storage.backup(to: copy)
    try storage.save("newer", forKey: "key 0")
    #expect(code { try storage.backup(to: copy) } == .invalid)
    #expect(try open(copy).load(String.self, forKey: "key 0") == "value 0")
    try storage.backup(to: copy, replacing: true)
    #expect(
      try VaultStorage(at: copy, keySource: .key(TemporaryVault.key), access: .readOnly)
        .load(String.self, forKey: "key 0") == "newer")
  }

  @Test func aBackupIsNotReplacedByABrokenOne() throws {
    let storage = try fill()
    try storage.compact()
    try storage.backup(to: copy)
    let good = try vault.bytes("copy.vault")
    var bytes = try vault.bytes()
    bytes.replaceSubrange(
      4 * VaultSchema.pageSize..<5 * VaultSchema.pageSize,
      with: [UInt8](repeating: 0xA5, count: VaultSchema.pageSize))
    let broken = vault.file("broken.vault")
    try vault.put(bytes, "broken.vault")
    let failure = #expect(throws: StorageError.self) {
      try open(broken).backup(to: copy, replacing: true)
    }
    #expect(failure?.code == .damaged && failure?.path == broken.path)
    #expect(failure?.message.contains("The existing backup was kept") == true)
    #expect(try vault.bytes("copy.vault") == good)
    #expect(!vault.entries.contains { $0.hasSuffix(".new") })
    // Where there is none, it is what is left.
    try open(broken).backup(to: vault.file("evidence.vault"), replacing: true)
    #expect(try !open(vault.file("evidence.vault")).verify().isSound)
  }

  @Test func aVaultIsNotItsOwnBackupAndNothingCantBeBackedUp() throws {
    #expect(code { try vault.storage().backup(to: copy) } == .unavailable)
    let storage = try fill()
    #expect(code { try storage.backup(to: vault.url, replacing: true) } == .invalid)
    #expect(try storage.verify().isSound)
  }

  @Test func aVaultWithItsOwnKeyIsRestoredWithTheKeyOfTheBackup() throws {
    let storage = try fill()
    try storage.backup(to: copy)
    _ = try storage.keyAdministration.rotate(
      openedBy: .key(SymmetricKey(data: Data(repeating: 8, count: 32))), names: true)
    #expect(code { try storage.restore(from: copy) } == .wrongKey)
    #expect(try storage.load(String.self, forKey: "key 9") == "value 9")
  }

  @Test func aBackupThatTheStorageCouldNotOpenAfterwardsIsNotRestored() throws {
    let storage = try fill()
    let other = KeySource.key(SymmetricKey(data: Data(repeating: 8, count: 32)))
    let elsewhere = VaultStorage(at: vault.file("elsewhere.vault"), keySource: other)
    try elsewhere.save("theirs", forKey: "key 9")
    try elsewhere.backup(to: copy)
    #expect(code { try storage.restore(from: copy, keySource: other) } == .wrongKey)
    #expect(try storage.load(String.self, forKey: "key 9") == "value 9")
    #expect(try storage.verify().isSound)
  }

  @Test func aDamagedBackupIsNotRestored() throws {
    let storage = try fill()
    try storage.backup(to: copy)
    var bytes = try Data(contentsOf: copy)
    bytes[bytes.count - 100] ^= 1
    try bytes.write(to: copy)
    #expect(code { try storage.restore(from: copy) } == .damaged)
    #expect(try storage.load(String.self, forKey: "key 9") == "value 9")
  }

  @Test func aCompactedVaultIsSmallerAndHoldsTheSame() throws {
    let storage = vault.storage()
    for index in 0..<300 {
      try storage.save(Data(repeating: UInt8(index % 256), count: 2000), forKey: "key \(index)")
    }
    for index in 0..<290 { try storage.delete(forKey: "key \(index)") }
    let before = try Data(contentsOf: vault.url).count
    try storage.compact()
    #expect(try Data(contentsOf: vault.url).count < before / 4)
    #expect(try storage.load(Data.self, forKey: "key 299")?.count == 2000)
    #expect(try storage.load(Data.self, forKey: "key 1") == nil)
    #expect(try storage.verify().isSound)
  }

  @Test func aVaultThatNobodyUsesIsClosedAndOneFile() throws {
    _ = try fill()
    #expect(vault.entries == ["test.vault", "test.vault-notice"])
  }
}
