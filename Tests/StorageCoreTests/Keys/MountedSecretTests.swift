import CryptoCore
import Foundation
import Glibc
import StorageCore
import StorageTesting
import TestSupport
import Testing

/// A key in a file that somebody else has put there; scripts/mounts.sh plays it with other users
/// and disks.
@Suite struct MountedSecretTests {
  private static let key = Data(repeating: 7, count: 32).base64EncodedString()

  /// A secret as Kubernetes mounts it: `key -> ..data/key`, `..data -> ..1`.
  private func kubernetes(_ text: String = key) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try add("..1", text, to: folder)
    try link("key", to: "..data/key", in: folder)
    return folder
  }

  private func add(_ version: String, _ text: String, to folder: TemporaryFolder) throws {
    try FileManager.default.createDirectory(
      atPath: folder.path + "/" + version, withIntermediateDirectories: false)
    try folder.write(text, to: version + "/key", permissions: 0o444)
    try link("..data", to: version, in: folder)
  }

  private func link(_ name: String, to target: String, in folder: TemporaryFolder) throws {
    let (new, path) = (folder.path + "/" + name + ".new", folder.path + "/" + name)
    try FileManager.default.createSymbolicLink(atPath: new, withDestinationPath: target)
    #expect(unsafe rename(new, path) == 0)
  }

  private func storage(_ delegate: OpenDelegate, _ path: String) -> DelegatedStorage {
    .quiet(delegate, .mountedSecret(path))
  }

  @Test func linksAreFollowedAndNothingIsMade() throws {
    let (folder, delegate) = (try kubernetes(), OpenDelegate())
    let before = try folder.contents()
    try storage(delegate, folder.path + "/key").save("kept", forKey: "k")
    #expect(try storage(delegate, folder.path + "/key").load(String.self, forKey: "k") == "kept")
    #expect(try folder.contents() == before)
    #expect(try folder.contents() == ["..1", "..data", "key"])
  }

  @Test(arguments: [0o444, 0o440, 0o644, 0o666, 0o777])
  func whateverModeItHasItIsRead(_ mode: Int) throws {
    let (folder, delegate) = (try TemporaryFolder(), OpenDelegate())
    try folder.write(Self.key, to: "key", permissions: mode)
    _ = unsafe chmod(folder.path, 0o777)
    try storage(delegate, folder.path + "/key").save("kept", forKey: "k")
    #expect(try folder.contents() == ["key"])
  }

  @Test func aStoreOfAKeyFileOpensWithTheSameFileMounted() throws {
    let (folder, delegate) = (try TemporaryFolder(), OpenDelegate())
    try DelegatedStorage.quiet(delegate, .file(folder.file("key"))).save("kept", forKey: "k")
    let mounted = try kubernetes(try String(contentsOf: folder.file("key"), encoding: .utf8))
    let storage = storage(delegate, mounted.path + "/key")
    #expect(try storage.load(String.self, forKey: "k") == "kept")
    #expect(try storage.keyAdministration.slots().map(\.kind) == ["file"])
  }

  @Test func whatIsNoSecretIsRefusedByName() throws {
    let folder = try TemporaryFolder()
    try folder.write("", to: "empty")
    try folder.write(String(repeating: "x", count: 4097), to: "long")
    try FileManager.default.createDirectory(
      atPath: folder.path + "/folder", withIntermediateDirectories: false)
    #expect(unsafe mkfifo(folder.path + "/pipe", 0o666) == 0)
    try link("device", to: "/dev/zero", in: folder)
    try link("circle", to: "circle", in: folder)
    try link("nowhere", to: "gone", in: folder)
    let before = try folder.contents()
    let expected: [(String, StorageError.Code)] = [
      ("empty", .damaged), ("long", .damaged), ("folder", .denied), ("pipe", .denied),
      ("device", .denied), ("circle", .denied), ("nowhere", .keyUnavailable),
      ("absent", .keyUnavailable),
    ]
    for (name, code) in expected {
      let delegate = OpenDelegate()
      let found = error {
        try storage(delegate, folder.path + "/" + name).save("v", forKey: "k")
      }
      #expect(found?.code == code, "\(name)")
      #expect(try delegate.header().header == nil, "\(name)")
      // What helps with a key file of one's own does not help here.
      #expect(found?.message.contains("chmod") == false, "\(name)")
    }
    #expect(code { try storage(OpenDelegate(), "relative").save("v", forKey: "k") } == .invalid)
    #expect(code { try storage(OpenDelegate(), "/a\0b").save("v", forKey: "k") } == .invalid)
    #expect(try folder.contents() == before)
  }

  @Test func aLadderPassesOnlyOneThatIsNotThere() throws {
    let (folder, delegate) = (try TemporaryFolder(), OpenDelegate())
    let source = KeySource.firstAvailable([
      .mountedSecret(folder.path + "/key"), .file(folder.file("own.key")),
    ])
    try DelegatedStorage.quiet(delegate, source).save("kept", forKey: "k")
    #expect(try folder.contents() == ["own.key", "own.key.made"])
    try folder.write("", to: "key")
    #expect(
      code { try DelegatedStorage.quiet(OpenDelegate(), source).save("v", forKey: "k") } == .damaged
    )
  }
}
