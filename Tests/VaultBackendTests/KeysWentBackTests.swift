import CryptoCore
import Foundation
import StorageCore
import TestSupport
import Testing
import VaultBackend

/// A header that is put back from before its keys were replaced.
struct KeysWentBackTests {
  private let vault = TemporaryVault()
  private let newSource = KeySource.key(SymmetricKey(data: Data(repeating: 9, count: 32)))

  private func fill(_ count: Int = 20) throws -> VaultStorage {
    let storage = vault.storage()
    try storage.transaction { transaction in
      for index in 0..<count { try transaction.save("value \(index)", forKey: "key \(index)") }
    }
    try vault.tamper(old("CREATE TABLE old.m AS SELECT * FROM meta"))
    return storage
  }

  private func old(_ sql: String) -> String { "ATTACH '\(vault.path).old' AS old; " + sql }

  /// Puts the header back as it was, as anybody can who may write to the file.
  private func putHeaderBack() throws {
    try vault.tamper(
      old("UPDATE meta SET value = (SELECT value FROM old.m WHERE id = 1) WHERE id = 1"))
  }

  private func expectWentBack(_ body: () throws -> Void) {
    let error = #expect(throws: StorageError.self) { try body() }
    #expect(error?.code == .damaged)
    #expect(error?.message.contains("an older header was put back") == true)
  }

  @Test(arguments: [false, true])
  func aProgramThatRunsDoesNotGoBackToKeysThatWereReplaced(_ isNew: Bool) async throws {
    let first = try fill()
    let file = KeySource.file(vault.file("new.key"))
    let storage =
      isNew
      ? VaultStorage(at: vault.url, keySource: .firstAvailable([file, .key(TemporaryVault.key)]))
      : first
    let property = Vault<String>(storage, "key 1")
    var states = property.projectedValue.states.makeAsyncIterator()
    #expect(await states.next() == .value("value 1"))
    #expect(try storage.load(String.self, forKey: "key 3") == "value 3")
    _ = try first.keyAdministration.rotate(openedBy: isNew ? file : nil)
    #expect(try storage.load(String.self, forKey: "key 3") == "value 3")
    try putHeaderBack()
    expectWentBack { _ = try storage.load(String.self, forKey: "key 3") }
    expectWentBack { try storage.save("secret", forKey: "key 4") }
    expectWentBack { _ = try storage.keys() }
    #expect(try !storage.verify().isSound)
    var state = await states.next()
    while state == .value("value 1") { state = await states.next() }
    guard case .failed(let error) = state else {
      Issue.record("told: \(String(describing: state))")
      return
    }
    #expect(error.code == .damaged)
  }

  @Test(arguments: [false, true])
  func aRotationWhoseHeaderIsPutBackEndsInAnError(_ isNew: Bool) throws {
    let storage = try fill(400)
    var isFirst = true
    expectWentBack {
      _ = try storage.keyAdministration.rotate(openedBy: isNew ? newSource : nil) { _, _ in
        guard isFirst else { return }
        isFirst = false
        noError { try putHeaderBack() }
      }
    }
  }

  @Test func aDataKeyThatWasReplacedDoesNotComeBackEither() throws {
    let storage = try fill()
    _ = try storage.keyAdministration.rotateDataKey()
    try putHeaderBack()
    expectWentBack { try storage.save("secret", forKey: "key 4") }
  }

  @Test func aRestoreByAnotherProcessIsFollowed() throws {
    let storage = try fill()
    try storage.backup(to: vault.file("copy.vault"))
    _ = try storage.keyAdministration.rotateDataKey()
    let other = vault.storage(access: .readOnly)
    #expect(try other.load(String.self, forKey: "key 3") == "value 3")
    _ = try vault.run("restore", vault.file("copy.vault").path)
    #expect(try storage.load(String.self, forKey: "key 3") == "value 3")
    #expect(try other.load(String.self, forKey: "key 3") == "value 3")
    try storage.save("newer", forKey: "key 3")
    #expect(try storage.verify().isSound)
    _ = try storage.keyAdministration.rotate()
    _ = try vault.run("restore", vault.file("copy.vault").path)
    #expect(try storage.load(String.self, forKey: "key 3") == "value 3")
    #expect(try other.load(String.self, forKey: "key 3") == "value 3")
    #expect(try storage.verify().isSound)
    _ = try storage.keyAdministration.rotate()
    try putHeaderBack()
    expectWentBack { _ = try storage.load(String.self, forKey: "key 3") }
  }
}
