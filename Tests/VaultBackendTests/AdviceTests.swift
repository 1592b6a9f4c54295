import Foundation
import Glibc
import TestSupport
import Testing

@testable import VaultBackend

/// What an error of a vault says to do next.
@Suite struct AdviceTests {
  private let vault = TemporaryVault()

  /// The message of what `body` throws.
  private func message(_ code: StorageError.Code, _ body: () throws -> Void) throws -> String {
    let error = #expect(throws: StorageError.self) { try body() }
    #expect(error?.code == code)
    return try #require(error?.message)
  }

  private func saying(_ path: String) throws -> String {
    try message(.denied) {
      _ = try VaultStorage(
        at: URL(fileURLWithPath: path, isDirectory: false), keySource: .key(TemporaryVault.key),
        access: .readOnly
      ).verify()
    }
  }

  @Test func whatIsNoVaultIsCalledWhatItIs() throws {
    #expect(try saying("/dev/null").contains("a device, not a vault"))
    let folder = vault.file("folder")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    #expect(try saying(folder.path).contains("a folder, not a vault"))
    #expect(unsafe mkfifo(vault.path, 0o600) == 0)
    #expect(try saying(vault.path).contains("move it away"))
  }

  /// Whether the write itself notices it, or the look at the file's place before, once a clock
  /// tick.
  @Test(arguments: [0, 50_000] as [UInt32])
  func aVaultThatWasRemovedMeanwhileSaysThatNothingWasSaved(_ pause: UInt32) throws {
    try vault.storage().save("value", forKey: "key")
    let storage = vault.storage()
    #expect(try storage.load(String.self, forKey: "key") == "value")
    try FileManager.default.removeItem(at: vault.url)
    usleep(pause)
    let removed = try message(.unavailable) { try storage.save("newer", forKey: "key") }
    #expect(removed.contains("nothing was saved; restore it from a backup, or save again"))
    // What it says to do next does it.
    try storage.save("newer", forKey: "key")
    #expect(try storage.load(String.self, forKey: "key") == "newer")
  }
}
