import Foundation
import TestSupport
import Testing

@testable import CryptoCore
@testable import FileBackend

/// What somebody can do who has the old keys of a folder and can write to its files, once the keys
/// were replaced: nothing but damage.
@Suite struct LeakedKeyTests {
  private let place = TemporarySealedFolder()
  private let newKey = KeySource.key(SymmetricKey(data: Data(repeating: 9, count: 32)))
  private let value = pattern(4 * segment)

  /// The folder as another process opens it with the new key.
  private var folder: SealedFolder { place.folder(newKey) }

  private func thief() throws -> Thief {
    try place.folder().write(value, named: "name")
    return try Thief(place, "name")
  }

  // MARK: - Which blobs a rotation seals

  @Test func noMarkOfTheOldRootKeyKeepsABlobFromBeingSealedAnew() throws {
    let thief = try thief()
    // As good as the old keys can make it, and with other bytes in the place of the mark.
    for mark in [Array(thief.entry[111...]), [UInt8](repeating: 0, count: 32)] {
      try thief.index.save(Data(thief.entry[..<111] + mark), forKey: "name")
    }
    try thief.index.save(Data(thief.entry), forKey: "name")
    #expect(try place.folder().rotate(openedBy: newKey).resealedCount == 1)
    #expect(!FileManager.default.fileExists(atPath: thief.file.path))
    #expect(try folder.reencrypt().resealedCount == 0)
    #expect(try folder.read(named: "name") == value)
  }

  @Test func aNewDataKeyLeavesTheBlobsAlone() throws {
    let thief = try thief()
    let folder = place.folder()
    _ = try folder.keyAdministration.rotateDataKey()
    #expect(try folder.verify().oldBlobCount == 0)
    #expect(try folder.reencrypt().resealedCount == 0)
    #expect(try place.onlyBlob() == thief.file && place.folder().read(named: "name") == value)
  }

  @Test func aBackupAndARestorationKeepTheMarks() throws {
    _ = try thief()
    let folder = place.folder()
    _ = try folder.rotate()
    let url = place.file("copy")
    try folder.backup(to: url)
    let copy = TemporarySealedFolder.folder(at: url)
    #expect(try copy.verify().oldBlobCount == 0)
    try folder.remove("name")
    try folder.restore(from: url)
    #expect(try folder.verify().oldBlobCount == 0 && folder.read(named: "name") == value)
  }

  // MARK: - A rotation that was interrupted

  /// The index is under the new key, and the blob is still under the key that the thief has.
  private func interrupted() throws -> Thief {
    let thief = try thief()
    _ = try place.folder().keyAdministration.rotate(openedBy: newKey)
    #expect(try folder.read(named: "name") == value)
    return thief
  }

  @Test(arguments: [
    16_385, segment, segment + 1, 4 * segment, 4 * segment + 1, 12 * segment, 13 * segment + 7,
    40 * segment + 1,
  ]) func aValueOfAnyLengthHasItsHashAndIsReadAndSealedAnew(_ length: Int) throws {
    let value = pattern(length)
    try place.folder().write(value, named: "name")
    #expect(try place.folder().verify().isSound)
    _ = try place.folder().keyAdministration.rotate(openedBy: newKey)
    #expect(try folder.read(named: "name") == value)
    #expect(try folder.verify().isSound && folder.verify().oldBlobCount == 1)
    #expect(try folder.reencrypt().resealedCount == 1)
    #expect(try folder.read(named: "name") == value && folder.verify().oldBlobCount == 0)
  }

  @Test func aForgeryIsNotReadBeforeItsBlobWasSealedAnew() throws {
    let thief = try interrupted()
    try thief.forge(0)
    #expect(code { _ = try folder.read(named: "name") } == .damaged)
    #expect(code { _ = try folder.reader(named: "name") } == .damaged)
    #expect(code { _ = try folder.copy("name", to: "other") } == .damaged)
    #expect(try folder.rename("name", to: "moved"))
    #expect(code { _ = try folder.read(named: "moved") } == .damaged)
    #expect(code { try folder.update(named: "moved") { _ in } } == .damaged)
  }

  @Test func aForgeryIsNotSealedAnewAsIfItWereGenuine() throws {
    let thief = try interrupted()
    let genuine = try Data(contentsOf: thief.file)
    try thief.forge(1)
    let report = try folder.verify()
    #expect(report.findings.map(\.kind) == [.otherBlob] && report.findings[0].name == "name")
    #expect(report.oldBlobCount == 1 && !report.isSound)
    let rotation = try folder.reencrypt()
    #expect(rotation.resealedCount == 0 && rotation.remaining == ["name"])
    #expect(try place.onlyBlob() == thief.file && place.pending == [])
    let again = try folder.rotate(openedBy: .key(SymmetricKey(data: Data(repeating: 8, count: 32))))
    #expect(again.remaining == ["name"])
    // What is put back is taken.
    try genuine.write(to: thief.file)
    let last = place.folder(.key(SymmetricKey(data: Data(repeating: 8, count: 32))))
    #expect(try last.read(named: "name") == value)
    #expect(try last.reencrypt().resealedCount == 1)
    #expect(try last.verify().isSound && last.verify().oldBlobCount == 0)
  }

  @Test func aSegmentThatIsForgedWhileItsReaderIsOpenIsRefused() throws {
    let thief = try interrupted()
    let reader = try #require(try folder.reader(named: "name"))
    try thief.forge(2)
    #expect(code { _ = try reader.read(2 * segment..<3 * segment) } == .damaged)
    #expect(try reader.read(0..<2 * segment) == value[..<(2 * segment)])
    #expect(code { try reader.withChunks { _ in } } == .damaged)
  }

  @Test func aSegmentThatIsForgedWhileItIsSealedAnewIsFound() throws {
    let thief = try interrupted()
    var isForged = false
    let rotation = try folder.reencrypt { _, _ in
      guard !isForged else { return }
      isForged = true
      do { try thief.forge(2) } catch { Issue.record(error) }
    }
    #expect(isForged && rotation.resealedCount == 0 && rotation.remaining == ["name"])
    #expect(try place.onlyBlob() == thief.file && place.pending == [])
  }

  @Test func aRepairAndABackupTakeNoForgery() throws {
    let thief = try interrupted()
    try folder.write(pattern(100_000), named: "well")
    try thief.forge(0)
    let url = place.file("copy")
    #expect(
      try folder.backup(to: url, leavingOutUnreadable: true).leftOut.map(\.name) == ["name"])
    let repair = try folder.repair(accepting: folder.verify(), removingUnreadable: true)
    #expect(repair.removedNames == ["name"])
    try folder.restore(from: url)
    #expect(try folder.names() == ["well"] && folder.verify().isSound)
  }
}
