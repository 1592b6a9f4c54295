import FileBackend
import Foundation
import TestSupport
import Testing

/// What a sealed folder does where the system refuses.
@Suite struct RefusingMachineTests {
  private let place = TemporarySealedFolder()

  private func entries() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: place.parent.path)
  }

  private func folder(_ path: String) -> SealedFolder {
    SealedFolder(
      at: URL(fileURLWithPath: path, isDirectory: true),
      keySource: .key(SymmetricKey(data: Data(repeating: 3, count: 32))))
  }

  @Test(.enabled(if: geteuid() == 0, "needs root"))
  func rootMakesNothingInAnotherUsersHome() throws {
    #expect(unsafe chown(place.parent.path, Machine.otherUser, Machine.otherUser) == 0)
    for path in ["/files", "/.local/share/app/files"] {
      let folder = folder(place.parent.path + path)
      #expect(code { try folder.write(pattern(100_000), named: "name") } == .denied)
      #expect(code { try folder.write(pattern(100), named: "name") } == .denied)
      #expect(try entries() == [])
    }
  }

  @Test(.enabled(if: Machine.canMount, "needs the right to mount in a namespace"))
  func filesAreRemovedOnAFullDisk() throws {
    let (parent, path) = (place.parent.path, place.path)
    let lines = try helper.run(
      script: """
        mount -t tmpfs -o size=700k,mode=0700 tmpfs \(parent) || exit 1
        for name in a b c; do "$0" write \(path) $name 1 60000; done
        cat /dev/zero > \(parent)/filler 2>/dev/null
        "$0" write \(path) d 1 60000
        "$0" remove \(path) a; "$0" remove \(path) b; "$0" names \(path)
        "$0" write \(path) d 1 50000; "$0" names \(path); "$0" read \(path) c
        """)
    #expect(
      lines == [
        "written", "written", "written", "error full", "removed", "removed", "c", "written", "c d",
        "1 60000",
      ])
  }

  @Test func aPathThatIsTooLongForTheIndexMakesNothing() throws {
    var path = place.parent.path
    while path.utf8.count < 400 { path += "/" + String(repeating: "d", count: 50) }
    path += "/" + String(repeating: "e", count: 505 - 12 - path.utf8.count - 1)
    let folder = folder(path)
    #expect(code { try folder.write(pattern(100_000), named: "name") } == .invalid)
    #expect(try entries() == [])
  }
}
