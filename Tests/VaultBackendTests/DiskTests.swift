import Foundation
import TestSupport
import Testing
import VaultBackend

@Suite(.enabled(if: Machine.canMount, "needs the right to mount in a namespace"))
struct DiskTests {
  private let vault = TemporaryVault()

  @Test func onAFullDiskReadsGoOnAndWritesDoWhenThereIsSpaceAgain() throws {
    let folder = vault.folder.path
    let lines = try helper.run(
      script: """
        mount -t tmpfs -o size=600k,mode=0700 tmpfs \(folder) || exit 1
        "$0" full-disk \(vault.path); "$0" load \(vault.path) key-9; "$0" verify \(vault.path)
        ls \(folder) | grep -v -e -wal -e -shm
        """)
    var expected = [String](repeating: "saved", count: 10)
    expected += (0..<10).map { "value-\($0)" }
    expected += [
      "sound 10", "error full", "newest", "value-4", "error full", "error full", "value-5",
      "saved", "after", "sound 10", "value-9", "sound 10", "test.vault", "test.vault-notice",
    ]
    #expect(lines == expected)
  }

  /// The newest value is the one that is read, whatever the last writer left.
  @Test(arguments: ["closed", "killed", "killed, without the index", "killed, with a stale index"])
  func aReadOnlyMountIsReadToTheLastAcknowledgedValueOrNotAtAll(_ ending: String) throws {
    if ending == "closed" {
      try vault.storage().save("newest", forKey: "key")
    } else {
      try vault.saveAndDie()
      #expect(vault.entries.contains("test.vault-wal"))
      let index = vault.file("test.vault-shm")
      if ending.hasSuffix("without the index") { try FileManager.default.removeItem(at: index) }
      if ending.hasSuffix("stale index") {
        try vault.put([UInt8](repeating: 1, count: 32768), "test.vault-shm")
      }
    }
    let before = vault.entries
    let folder = vault.folder.path
    let lines = try helper.run(
      script: """
        mount --bind \(folder) \(folder) && mount -o remount,ro,bind \(folder) || exit 1
        "$0" load-read-only \(vault.path) key; "$0" load-read-only \(vault.path) absent
        "$0" save-read-only \(vault.path) key other; "$0" save \(vault.path) key other
        """)
    // Without the log's index, only somebody who can write may read the log.
    let isReadable = !ending.hasSuffix("without the index")
    let read = isReadable ? ["newest", "nil"] : ["error readOnly", "error readOnly"]
    #expect(lines == read + ["error readOnly", "error readOnly"])
    #expect(vault.entries == before)
    #expect(try vault.storage().load(String.self, forKey: "key") == "newest")
  }

  /// As a folder that a container sees for reading alone, and the host writes to.
  @Test func aReadOnlyMountOfAVaultThatIsWrittenToElsewhereIsFollowed() throws {
    let storage = vault.storage()
    try storage.save("before", forKey: "key")
    let folder = vault.folder.path
    let script = """
      mount --bind \(folder) \(folder) && mount -o remount,ro,bind \(folder) || exit 1
      exec "$0" serve-read-only \(vault.path)
      """
    let child = try Child(Machine.inMountNamespace + ["sh", "-c", script, helper.path])
    for round in 0..<300 {
      try storage.save("\(round)", forKey: "key")
      try #require(try child.ask("load key") == "\(round)")
    }
    child.kill()
  }
}
