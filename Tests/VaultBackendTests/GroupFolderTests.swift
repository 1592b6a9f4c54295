import Foundation
import Glibc
import TestSupport
import Testing
import VaultBackend

/// A folder that a group of the process may write to, where the application says so;
/// scripts/mounts.sh plays it with other users.
@Suite struct GroupFolderTests {
  private let vault = TemporaryVault()
  private var place: URL { vault.file("volume/app/test.vault") }

  private func volume(_ mode: Int) throws {
    try FileManager.default.createDirectory(
      at: vault.file("volume"), withIntermediateDirectories: false)
    #expect(Machine.share(vault.file("volume").path, mode))
  }

  private func storage(_ trust: FolderTrust) -> VaultStorage {
    VaultStorage(at: place, keySource: .key(TemporaryVault.key), folderTrust: trust)
  }

  private func mode(_ url: URL) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
    return try #require(attributes[.posixPermissions] as? Int)
  }

  @Test func itIsTakenWhereTheApplicationSaysSo() throws {
    try volume(0o2775)
    #expect(code { try storage(.owner).save("value", forKey: "key") } == .denied)
    let error = #expect(throws: StorageError.self) { try storage(.owner).save("v", forKey: "key") }
    #expect(error?.message.contains("FolderTrust.processGroup") == true)
    try storage(.processGroup).save("value", forKey: "key")
    #expect(try storage(.processGroup).load(String.self, forKey: "key") == "value")
    // One storage that takes it does not take it for another.
    #expect(code { _ = try storage(.owner).load(String.self, forKey: "key") } == .denied)
  }

  @Test func filesThatTheGroupWasGivenAreTakenBack() throws {
    try volume(0o2775)
    try storage(.processGroup).save("value", forKey: "key")
    for name in try FileManager.default.contentsOfDirectory(
      atPath: vault.file("volume/app").path)
    {
      #expect(unsafe chmod(vault.file("volume/app/" + name).path, 0o660) == 0)
    }
    #expect(unsafe chmod(vault.file("volume/app").path, 0o2770) == 0)
    let said = { (trust: FolderTrust) in
      code { _ = try storage(trust).load(String.self, forKey: "key") }
    }
    #expect(said(.owner) == .denied)
    #expect(said(.processGroup) == nil)
    #expect(try mode(place) == 0o600)
  }

  @Test(arguments: [0o777, 0o2777, 0o1777, 0o757])
  func oneThatAllCanWriteToIsRefusedAsEver(_ mode: Int) throws {
    try volume(mode)
    let direct = VaultStorage(
      at: vault.file("volume/test.vault"), keySource: .key(TemporaryVault.key),
      folderTrust: .processGroup)
    #expect(code { try direct.save("value", forKey: "key") } == .denied)
  }

  @Test(.enabled(if: geteuid() == 0, "needs to give files to another group"))
  func oneOfAnotherGroupIsRefused() throws {
    try volume(0o2775)
    #expect(unsafe chown(vault.file("volume").path, 0, Machine.otherUser) == 0)
    #expect(unsafe chmod(vault.file("volume").path, 0o2775) == 0)
    #expect(code { try storage(.processGroup).save("value", forKey: "key") } == .denied)
  }
}
