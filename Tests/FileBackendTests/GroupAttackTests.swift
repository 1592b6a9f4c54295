import FileBackend
import Foundation
import Glibc
import TestSupport
import Testing

/// What a member of a group can't do to another user whose sealed folder is on the group's volume.
@Suite(.enabled(if: Machine.canBecomeAnother, "needs root and setpriv"))
struct GroupAttackTests {
  private let place = TemporarySealedFolder()

  private func make(_ path: String, _ owner: UInt32, _ group: UInt32, _ mode: mode_t) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    #expect(unsafe chown(path, owner, group) == 0)
    #expect(unsafe chmod(path, mode) == 0)
  }

  @Test func whoExchangesAFolderOnTheWayAndALinkReachesNoOtherBlobs() throws {
    let (victim, attacker) = (Machine.otherUser, Machine.otherUser - 1)
    #expect(unsafe chmod(place.parent.path, 0o711) == 0)
    let volume = place.parent.path + "/volume"
    try make(volume, 0, victim, 0o2775)
    try make(volume + "/app", victim, victim, 0o2775)
    // Blobs of another folder of the victim, one of which a writer left that was killed.
    let other = place.parent.path + "/private"
    let blob = String(repeating: "ab", count: 16)
    for name in ["", "/files", "/files/blobs", "/files/pending"] {
      try make(other + name, victim, victim + 1, 0o700)
    }
    for name in ["blobs", "pending"] {
      let path = "\(other)/files/\(name)/\(blob)"
      try Data(name == "blobs" ? Array("private".utf8) : []).write(to: URL(fileURLWithPath: path))
      #expect(unsafe chown(path, victim, victim + 1) == 0 && chmod(path, 0o600) == 0)
    }
    let before = try FileManager.default.subpathsOfDirectory(atPath: other).sorted()
    let link = volume + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: other)
    #expect(unsafe lchown(link, attacker, victim) == 0)
    let helper = try HelperProgram("FileTestChild").copy(to: place.parent.path)
    func user(_ id: UInt32, _ group: UInt32) -> [String] {
      ["setpriv", "--reuid", "\(id)", "--regid", "\(group)", "--groups", "\(victim)"]
    }
    let attack = try helper.start(
      ["exchange", volume + "/app", link], prefix: user(attacker, attacker))
    attack.waitUntilItSpeaks()
    let said = try helper.start(
      ["attacked", volume + "/app/files", "150"], prefix: user(victim, victim + 1)
    ).lines()
    attack.kill()
    #expect(said.contains("denied"), "\(said)")
    let allowed: Set = [
      "busy", "damaged", "denied", "done", "full", "io", "outcomeUnknown", "readOnly",
      "unavailable",
    ]
    #expect(allowed.isSuperset(of: said), "\(said)")
    // SQLite opens files by path, so it can make its own files, empty ones, where the link leads.
    let ofSQLite: Set = ["files/index.vault-wal", "files/index.vault-shm"]
    let after = try FileManager.default.subpathsOfDirectory(atPath: other).sorted()
    #expect(after.filter { !ofSQLite.contains($0) } == before)
    let kept = try String(contentsOfFile: "\(other)/files/blobs/\(blob)", encoding: .utf8)
    #expect(kept == "private")
  }
}
