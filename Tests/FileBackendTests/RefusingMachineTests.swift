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

  @Test func aPathThatIsTooLongForTheIndexMakesNothing() throws {
    var path = place.parent.path
    while path.utf8.count < 400 { path += "/" + String(repeating: "d", count: 50) }
    path += "/" + String(repeating: "e", count: 505 - 12 - path.utf8.count - 1)
    let folder = folder(path)
    #expect(code { try folder.write(pattern(100_000), named: "name") } == .invalid)
    #expect(try entries() == [])
  }
}
