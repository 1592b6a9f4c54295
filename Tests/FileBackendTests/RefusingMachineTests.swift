import FileBackend
import Foundation
import TestSupport
import Testing

/// What a sealed folder does where the system refuses.
@Suite struct RefusingMachineTests {
  private let place = TemporarySealedFolder()

  @Test(.enabled(if: geteuid() == 0, "needs root"))
  func rootMakesNothingInAnotherUsersHome() throws {
    let home = place.parent.path
    #expect(unsafe chown(home, Machine.otherUser, Machine.otherUser) == 0)
    for path in ["/files", "/.local/share/app/files"] {
      let folder = SealedFolder(
        at: URL(fileURLWithPath: home + path, isDirectory: true),
        keySource: .key(TemporarySealedFolder.key))
      #expect(code { try folder.write(pattern(100_000), named: "name") } == .denied)
      #expect(code { try folder.write(pattern(100), named: "name") } == .denied)
      #expect(try FileManager.default.contentsOfDirectory(atPath: home) == [])
    }
  }

  @Test(.enabled(if: Machine.canMount, "needs the right to mount in a namespace"))
  func onAFullDiskTheOldValueStaysAndFilesAreRemoved() throws {
    let (parent, path) = (place.parent.path, place.path)
    let lines = try helper.run(
      script: """
        mount -t tmpfs -o size=700k,mode=0700 tmpfs \(parent) || exit 1
        for name in a b c; do "$0" write \(path) $name 1 60000; done
        cat /dev/zero > \(parent)/filler 2>/dev/null
        "$0" write \(path) d 1 60000; "$0" write \(path) c 2 60000; "$0" read \(path) c
        ls \(path)/blobs | wc -l; "$0" remove \(path) a; "$0" remove \(path) b; "$0" names \(path)
        "$0" write \(path) d 1 50000; "$0" names \(path); "$0" read \(path) c
        """)
    #expect(
      lines == [
        "written", "written", "written", "error full", "error full", "1 60000", "3", "removed",
        "removed", "c", "written", "c d", "1 60000",
      ])
  }
}
