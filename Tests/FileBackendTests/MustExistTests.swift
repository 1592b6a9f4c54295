import FileBackend
import Foundation
import Glibc
import TestSupport
import Testing

/// A sealed folder that a program says has to be there, or that a group may write to.
@Suite struct MustExistTests {
  private let place = TemporarySealedFolder()

  @Test(arguments: [10, 100_000]) func oneThatIsNotThereIsNotMade(_ size: Int) throws {
    let folder = place.folder()
    #expect(code { try folder.open(.mustExist) } == .unavailable)
    #expect(code { try folder.write(pattern(size), named: "a") } == .unavailable)
    #expect(code { _ = try folder.read(named: "a") } == .unavailable)
    #expect(code { try folder.open() } == .unavailable)
    #expect(!FileManager.default.fileExists(atPath: place.path))
  }

  @Test(arguments: [10, 100_000]) func oneThatVanishesIsNotMadeAnew(_ size: Int) throws {
    do { try place.folder().write(pattern(size), named: "a") }
    let folder = place.folder()
    try folder.open(.mustExist)
    #expect(try folder.read(named: "a") == pattern(size))
    try FileManager.default.moveItem(atPath: place.path, toPath: place.path + "-away")
    #expect(code { try folder.write(pattern(size, 2), named: "a") } == .unavailable)
    #expect(code { try folder.write(pattern(size, 2), named: "b") } == .unavailable)
    #expect(!FileManager.default.fileExists(atPath: place.path))
    try FileManager.default.moveItem(atPath: place.path + "-away", toPath: place.path)
    #expect(try folder.read(named: "a") == pattern(size))
    try folder.write(pattern(size, 3), named: "a")
    #expect(try folder.read(named: "a") == pattern(size, 3))
  }

  @Test(arguments: [10, 100_000]) func oneThatIsOpenedAsExistingIsWrittenTo(_ size: Int) throws {
    do { try place.folder().write(pattern(size), named: "a") }
    let folder = place.folder(access: .mustExist)
    try folder.write(pattern(size, 2), named: "a")
    let copy = place.parent.appendingPathComponent("copy")
    try folder.backup(to: copy)
    try folder.remove("a")
    try folder.compact()
    try folder.restore(from: copy)
    #expect(try folder.read(named: "a") == pattern(size, 2))
    try folder.discard()
    #expect(code { _ = try folder.read(named: "a") } == .unavailable)
    #expect(place.blobs == [])
  }

  @Test func oneInAGroupsFolderIsTakenWhereTheApplicationSaysSo() throws {
    #expect(Machine.share(place.parent.path, 0o2775))
    func folder(_ trust: FolderTrust) -> SealedFolder {
      SealedFolder(
        at: place.url, keySource: .key(TemporarySealedFolder.key), folderTrust: trust)
    }
    #expect(code { try folder(.owner).write(pattern(10), named: "a") } == .denied)
    try folder(.processGroup).write(pattern(100_000), named: "a")
    // As Kubernetes does at each mount.
    for name in ["", "/blobs", "/pending", "/index.vault", "/blobs/" + place.blobs[0]] {
      #expect(unsafe chmod(place.path + name, name.contains(".") ? 0o660 : 0o2770) == 0)
    }
    #expect(try folder(.processGroup).read(named: "a") == pattern(100_000))
    #expect(code { _ = try folder(.owner).read(named: "a") } == .denied)
    #expect(try folder(.processGroup).verify().isSound)
  }
}
