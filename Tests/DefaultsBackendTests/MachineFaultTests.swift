import DefaultsBackend
import Foundation
import Glibc
import StorageCore
import TestSupport
import Testing

@Suite(.enabled(if: Machine.canBecomeAnother, "needs root and setpriv"))
struct OtherUserTests {
  /// The helper program where every user can run it.
  private static let shared = Result { try helper.copy(to: TemporaryFolder.root) }

  private func run(_ command: String..., in folder: TemporaryFolder) throws -> [String] {
    try Self.shared.get().start(
      [command[0], folder.path] + command.dropFirst(), prefix: Machine.asOtherUser
    ).lines()
  }

  private func give(_ path: String, mode: mode_t, to user: UInt32 = Machine.otherUser) {
    #expect(unsafe chown(path, user, user) == 0 && chmod(path, mode) == 0)
  }

  @Test func aFolderThatCantBeWrittenToIsReadOnlyAndCanBeRead() throws {
    let folder = TemporaryFolder()
    give(folder.path, mode: 0o700)
    #expect(try run("set", "1", "2", in: folder) == ["set"])
    let before = folder.bytes
    // Without and with a lock file from before.
    for _ in 0..<2 {
      give(folder.path, mode: 0o500)
      #expect(try run("set", "1", "3", in: folder) == ["error readOnly"])
      #expect(try run("header", "3", in: folder) == ["error readOnly"])
      #expect(try run("get", "1", in: folder) == ["2"])
      #expect(folder.bytes == before)
      _ = unsafe unlink(folder.file + ".lock")
    }
  }

  @Test func aKeyFileInAFolderThatCantBeWrittenToIsReadWithoutAMarker() throws {
    let (folder, keys) = (TemporaryFolder(), TemporaryFolder())
    give(folder.path, mode: 0o700)
    let file = keys.path + "/store.key"
    try Data(Data(repeating: 3, count: 32).base64EncodedString().utf8)
      .write(to: URL(fileURLWithPath: file))
    give(file, mode: 0o600)
    give(keys.path, mode: 0o500)
    #expect(try run("save-with-key-file", file, in: folder) == ["saved"])
    #expect(keys.entries == ["store.key"])
    give(keys.path, mode: 0o700)
    #expect(try run("save-with-key-file", file, in: folder) == ["saved"])
    #expect(keys.entries == ["store.key", "store.key.made"])
  }

  @Test func anotherUsersFolderIsDenied() throws {
    let folder = TemporaryFolder()
    try folder.delegate().set([1], for: name(1))
    let before = folder.bytes
    #expect(try run("get", "1", in: folder) == ["error denied"])
    #expect(try run("set", "1", "2", in: folder) == ["error denied"])
    // Root's folder is trusted, a file of root's is not ours.
    give(folder.path, mode: 0o755, to: 0)
    #expect(try run("get", "1", in: folder) == ["error denied"])
    #expect(try run("set", "1", "2", in: folder) == ["error denied"])
    give(folder.path, mode: 0o755, to: Machine.otherUser - 1)
    #expect(try run("get", "1", in: folder) == ["error denied"])
    #expect(try run("set", "1", "2", in: folder) == ["error denied"])
    #expect(folder.bytes == before)
  }
}

/// What a suite does where the system refuses.
@Suite struct RefusingMachineTests {
  private let folder = TemporaryFolder()

  @Test(.enabled(if: geteuid() == 0, "needs root"))
  func rootMakesNothingInAnotherUsersHome() throws {
    #expect(unsafe chown(folder.path, Machine.otherUser, Machine.otherUser) == 0)
    for path in ["", "/.config", "/.config/deep"] {
      let delegate = DefaultsDelegate(
        folder: folder.path + path, suiteName: "suite", durability: .immediate,
        deadline: .seconds(5))
      #expect(throws: StorageError.self) { try delegate.set(record(1), for: name(1)) }
      #expect(folder.entries == [])
    }
  }

  @Test(arguments: [0, 4, 100])
  func aWriteBeyondTheFileSizeLimitIsAnErrorAndNoSignal(_ limit: Int) throws {
    let script = "ulimit -f \(limit); \"$0\" set-large \(folder.path); \"$0\" count \(folder.path)"
    let lines = try Child.run(["bash", "-c", script, helper.path])
    let written = try #require(lines.firstIndex(of: "error full"))
    #expect(lines.last == "\(written)")
    #expect(!folder.entries.contains("suite.secure.plist.new"))
  }
}

@Suite(.enabled(if: Machine.canMount, "needs the right to mount in a namespace"))
struct MountTests {
  private func run(_ script: String) throws -> [String] {
    try helper.run(script: script)
  }

  @Test func onAFullDiskAWriteIsFullAndTheFileAsItWas() throws {
    let folder = TemporaryFolder().path
    let lines = try run(
      """
      mount -t tmpfs -o size=300k,mode=0700 tmpfs \(folder) || exit 1
      "$0" set-large \(folder); cp \(folder)/suite.secure.plist /proc/self/fd/2 2>/dev/null
      "$0" count \(folder); "$0" set \(folder) 1 3; ls \(folder)
      """)
    let written = try #require(lines.firstIndex(of: "error full"))
    // Two copies of the file have to fit.
    #expect((10...29).contains(written))
    #expect(lines[written + 1] == "\(written)")
    // Another small value in place of a large one fits or doesn't; nothing is left lying about.
    #expect(!lines.contains("suite.secure.plist.new"))
  }

  @Test func aReadOnlyFileSystemIsReadOnlyAndCanBeRead() throws {
    let folder = TemporaryFolder()
    #expect(try helper.run("set", folder.path, "1", "2") == ["set"])
    let path = folder.path
    let lines = try run(
      """
      mount --bind \(path) \(path) && mount -o remount,ro,bind \(path) || exit 1
      "$0" get \(path) 1; "$0" set \(path) 1 3; "$0" header \(path) 1
      """)
    #expect(lines == ["2", "error readOnly", "error readOnly"])
    #expect(try helper.run("get", folder.path, "1") == ["2"])
  }
}
