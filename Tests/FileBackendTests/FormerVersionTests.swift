import Foundation
import Testing

@testable import FileBackend

/// A folder with entries of version 1, as earlier releases wrote it: `Fixtures/version-1` has two
/// large values and a small one.
@Suite struct FormerVersionTests {
  private let place = TemporarySealedFolder()
  private let lengths = ["one": 16_385, "two": 70_000, "small": 100]

  init() throws {
    let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Fixtures/version-1")
    // Git keeps no empty folder, and no mode but that of a program.
    for folder in ["files", "files/blobs", "files/pending"] {
      try FileManager.default.createDirectory(
        at: place.file(folder), withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
    }
    let blobs = try FileManager.default.contentsOfDirectory(
      atPath: fixture.appendingPathComponent("blobs").path)
    for name in blobs.map({ "blobs/" + $0 }) + ["index.vault"] {
      let file = place.url.appendingPathComponent(name)
      try Data(contentsOf: fixture.appendingPathComponent(name)).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }
  }

  private func expectValues(_ folder: SealedFolder) throws {
    for (number, name) in [(1, "one"), (2, "two"), (3, "small")] {
      let value = try #require(try folder.read(named: name))
      let word = unsafe withUnsafeBytes(of: UInt64(number)) { unsafe Array($0) }
      #expect(value.count == lengths[name])
      #expect(value.enumerated().allSatisfy { $0.element == word[$0.offset % 8] })
    }
  }

  private func version(of name: String) throws -> UInt8? {
    let index = VaultStorage(
      at: place.url.appendingPathComponent("index.vault"),
      keySource: .key(TemporarySealedFolder.key))
    return try index.load(Data.self, forKey: name)?.first
  }

  @Test func entriesOfVersion1AreReadAndGetVersion2WhenTheyAreSealedAgain() throws {
    let folder = place.folder()
    try expectValues(folder)
    let report = try folder.verify()
    #expect(report.isSound && report.blobCount == 2 && report.oldBlobCount == 2)
    let rotation = try folder.reencrypt()
    #expect(rotation.resealedCount == 2 && rotation.remaining == [])
    try expectValues(place.folder())
    #expect(try version(of: "one") == 2 && version(of: "two") == 2 && version(of: "small") == 1)
    #expect(try folder.verify().isSound && folder.verify().oldBlobCount == 0)
    #expect(try folder.reencrypt().resealedCount == 0)
  }

  @Test func aNewNameLeavesAnEntryOfVersion1AsItIs() throws {
    let folder = place.folder()
    #expect(try folder.rename("two", to: "moved"))
    #expect(try version(of: "moved") == 1)
    #expect(try folder.rename("moved", to: "two"))
    try expectValues(folder)
    #expect(try folder.verify().isSound)
  }

  @Test func aRotationSealsEntriesOfVersion1() throws {
    let rotation = try place.folder().rotate()
    #expect(rotation.resealedCount == 2 && rotation.remaining == [])
    try expectValues(place.folder())
  }
}
