import FileBackend
import Foundation
import Glibc
import TestSupport
import Testing

/// A sealed folder is discarded with its files, whatever its index contains.
@Suite struct DiscardTests {
  private let place = TemporarySealedFolder()
  private let lost = KeySource.key(SymmetricKey(size: .bits256))

  private func fill() throws {
    let folder = place.folder()
    for index in 0..<3 { try folder.write(pattern(100_000), named: "large-\(index)") }
    try folder.write(pattern(10), named: "small")
  }

  private func requireNew(_ folder: SealedFolder) throws {
    #expect(place.blobs == [])
    #expect(try folder.names().isEmpty)
    #expect(try folder.read(named: "large-1") == nil)
    try folder.write(pattern(200_000, 2), named: "large-1")
    #expect(try folder.read(named: "large-1") == pattern(200_000, 2))
    #expect(try folder.verify().isSound)
  }

  @Test func aFolderWhoseKeyIsLostIsDiscarded() throws {
    try fill()
    let folder = place.folder(lost)
    #expect(code { _ = try folder.read(named: "small") } == .wrongKey)
    try folder.discard()
    try requireNew(folder)
  }

  @Test(arguments: ["garbage", "", nil]) func aBrokenOrMissingIndexIsNoObstacle(
    _ content: String?
  ) throws {
    try fill()
    let index = place.url.appendingPathComponent("index.vault")
    try FileManager.default.removeItem(at: index)
    if let content {
      try Data(content.utf8).write(to: index)
      _ = unsafe chmod(index.path, 0o600)
    }
    let folder = place.folder()
    #expect(code { _ = try folder.read(named: "small") } == .damaged)
    try folder.discard()
    try requireNew(folder)
  }

  @Test func aFolderThatIsNotThereIsNotMade() throws {
    try place.folder().discard()
    #expect(!FileManager.default.fileExists(atPath: place.path))
  }

  @Test func whoMayOnlyReadDiscardsNothing() throws {
    try fill()
    #expect(code { try place.folder(access: .readOnly).discard() } == .readOnly)
    #expect(try place.folder().read(named: "large-2") == pattern(100_000))
  }

  @Test func aValueThatIsBeingWrittenIsAnErrorAndNeverHalfThere() throws {
    try fill()
    let folder = place.folder()
    let writer = try folder.writer(named: "late")
    try writer.write(pattern(100_000))
    try place.folder(lost).discard()
    #expect(code { try writer.commit() } != nil)
    #expect(try folder.read(named: "late") == nil)
    try folder.write(pattern(100_000), named: "late")
    #expect(try folder.verify().isSound)
  }
}
