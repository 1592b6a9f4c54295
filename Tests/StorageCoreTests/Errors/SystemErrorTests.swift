import Foundation
import StorageCore
import TestSupport
import Testing

/// What is said to do when the system refuses a file.
@Suite struct SystemErrorTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func refusal(_ path: String, isOpening: Bool = true) -> StorageError {
    StorageError(system: "open", path: path, number: EACCES, isOpening: isOpening)
  }

  @Test func aFileOfAnotherUserIsDeniedAlsoInAFolderOfOurs() throws {
    var path = "/etc/passwd"
    if geteuid() == 0 {
      path = try folder.write("", to: "file").path
      #expect(unsafe chown(path, Machine.otherUser, Machine.otherUser) == 0)
    }
    let error = refusal(path)
    #expect(error.code == .denied)
    #expect(error.message.contains("it belongs to another user: run as its owner, or give it to"))
    #expect(!error.message.contains("make the folder writable"))
  }

  @Test func aFileOfOursThatMayNotBeOpenedIsTheOneToChange() throws {
    let closed = refusal(try folder.write("", to: "closed", permissions: 0).path)
    #expect(closed.code == .denied && closed.message.hasSuffix("run chmod u+rw on it"))
    let kept = refusal(try folder.write("", to: "kept", permissions: 0o400).path)
    #expect(kept.code == .readOnly && kept.message.hasSuffix("run chmod u+rw on it"))
  }

  @Test func aFileThatCanNotBeMadeIsAMatterOfItsFolder() throws {
    let ours = refusal(folder.path + "/new", isOpening: false)
    #expect(ours.code == .readOnly && ours.message.hasSuffix("make the folder writable"))
    #expect(refusal(folder.path + "/new") == ours)
  }
}
