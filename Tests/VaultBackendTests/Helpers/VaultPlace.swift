import CryptoCore
import Foundation
import StorageTesting
import Testing
import VaultBackend

/// A vault for `StorePromise`, into which records are planted as SQLite can do without any key.
struct VaultPlace: StorePlace {
  let vault = TemporaryVault()
  private var url: URL { vault.file("disk/app/test.vault") }

  func storage(_ source: KeySource, tag: String?) throws -> DelegatedStorage {
    VaultStorage(
      at: url, keySource: source, authenticationTag: tag.map { Data($0.utf8) },
      deadline: .seconds(60), errorClosure: { _ in })
  }

  var sharesExistence: Bool { true }

  func raw() throws -> any RecordPlace { VaultDelegate(at: url) }

  func plant(_ bytes: [UInt8]?, for name: NameHash?) throws {
    let value = bytes.map { "x'\(Hexadecimal.encode($0))'" }
    let next = "1 + max((SELECT max(sequence) FROM record), (SELECT max(sequence) FROM meta))"
    let sql =
      switch (name, value) {
      case (nil, nil): "DELETE FROM meta WHERE id = 1"
      case (nil, let value?): "UPDATE meta SET value = \(value) WHERE id = 1"
      case (let name?, nil): "DELETE FROM record WHERE name = x'\(name.hexadecimal)'"
      case (let name?, let value?):
        "REPLACE INTO record SELECT \(next), x'\(name.hexadecimal)', \(value)"
      }
    try vault.tamper(sql, "disk/app/test.vault")
  }

  // Whoever watches looks at the file after a write.
  func wakeListeners(by storage: DelegatedStorage) throws {
    try storage.save("other", forKey: "other")
  }

  func storedBytes() throws -> [UInt8] {
    let folder = url.deletingLastPathComponent()
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).reduce([]) {
      $0 + (try Data(contentsOf: folder.appendingPathComponent($1)))
    }
  }

  func moveAway() throws -> (() throws -> Void)? {
    let (disk, away) = (vault.file("disk"), vault.file("away"))
    try FileManager.default.moveItem(at: disk, to: away)
    return {
      #expect(vault.entries == ["away"])
      try FileManager.default.moveItem(at: away, to: disk)
    }
  }
}
