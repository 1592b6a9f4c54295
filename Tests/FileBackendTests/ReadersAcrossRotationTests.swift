import CryptoCore
import Foundation
import StorageCore
import Testing

@testable import FileBackend
@testable import VaultBackend

/// What was opened before a rotation gives nothing that somebody with the old keys forges
/// afterwards.
struct ReadersAcrossRotationTests {
  private let place = TemporarySealedFolder()
  private let newKey = KeySource.key(SymmetricKey(data: Data(repeating: 9, count: 32)))
  private let value = pattern(20 * segment)

  /// A link to the blob, by which its file is reached when its name is gone.
  private func linked(_ thief: Thief) throws -> URL {
    let link = place.file("link")
    try FileManager.default.linkItem(at: thief.file, to: link)
    return link
  }

  @Test(arguments: [false, true]) func aReaderGivesNoForgery(_ isIndexAlone: Bool) throws {
    let folder = place.folder()
    try folder.write(value, named: "name")
    let thief = try Thief(place, "name")
    let link = try linked(thief)
    let reader = try #require(try folder.reader(named: "name"))
    #expect(try reader.read(0..<10) == value.prefix(10))
    if isIndexAlone {
      _ = try folder.keyAdministration.rotate(openedBy: newKey)
    } else {
      _ = try folder.rotate(openedBy: newKey)
    }
    #expect(try reader.read(segment..<2 * segment) == value[segment..<2 * segment])
    try thief.forge(1, in: link)
    #expect(code { _ = try reader.read(0..<reader.size) } == .damaged)
    #expect(code { _ = try reader.read(segment..<segment + 1) } == .damaged)
  }

  @Test func aReaderGivesNoForgeryThatWasMadeBeforeItsNextCall() throws {
    let folder = place.folder()
    try folder.write(value, named: "name")
    let thief = try Thief(place, "name")
    let reader = try #require(try folder.reader(named: "name"))
    _ = try place.folder().keyAdministration.rotate(openedBy: newKey)
    try thief.forge(1)
    #expect(code { _ = try reader.read(0..<10) } == .damaged)
  }

  @Test func aReaderOfAnEntryWithoutAHashGivesNothingMore() throws {
    let folder = place.folder()
    try folder.write(value, named: "name")
    let thief = try Thief(place, "name")
    try thief.index.save(thief.entry(ofVersion1: 1), forKey: "name")
    let reader = try #require(try folder.reader(named: "name"))
    #expect(try reader.read(0..<10) == value.prefix(10))
    _ = try folder.keyAdministration.rotate(openedBy: newKey)
    #expect(code { _ = try reader.read(0..<10) } == .busy)
  }

  @Test func aCopyThatBeganBeforeTheRotationSealsNoForgery() throws {
    let folder = place.folder()
    try folder.write(value, named: "name")
    let thief = try Thief(place, "name")
    let link = try linked(thief)
    var isDone = false
    let failure = code {
      try folder.copy("name", to: "other") { _, _ in
        guard !isDone else { return }
        isDone = true
        do {
          _ = try folder.rotate(openedBy: newKey, names: true)
          for number in 5..<15 { try thief.forge(number, in: link) }
        } catch { Issue.record(error) }
      }
    }
    #expect(failure == .damaged)
    let owner = place.folder(newKey)
    #expect(try owner.read(named: "other") == nil)
    #expect(try owner.read(named: "name") == value)
    #expect(try owner.verify().isSound)
  }

  /// The row that the first step of a rotation writes is sealed under the new keys, and everybody
  /// can copy it.
  @Test(arguments: [false, true]) func anEntryOfVersion1PutBackAfterARotationGivesNoForgery(
    _ reencrypts: Bool
  ) throws {
    try place.folder().write(value, named: "name")
    let thief = try Thief(place, "name")
    try thief.index.save(thief.entry(ofVersion1: 1), forKey: "name")
    let blob = try Data(contentsOf: thief.file)
    var copied: (name: NameHash, record: [UInt8])?
    let report = try place.folder().rotate(openedBy: newKey) { _, _ in
      guard copied == nil else { return }
      do { copied = try onlyRow() } catch { Issue.record(error) }
    }
    #expect(report.resealedCount == 1 && report.remaining == [])
    let row = try #require(copied)
    let now = try #require(try onlyRow())
    #expect(now.name == row.name && now.record != row.record)
    // A process that did not see the rotation has another path to the folder.
    let other = TemporarySealedFolder()
    try FileManager.default.copyItem(at: place.url, to: other.url)
    let index = try Connection(
      other.path + "/index.vault", .readWrite, until: .now + .seconds(60))
    try index.beginWriting()
    try VaultRows.set(row.record, for: row.name, sequence: sequence(in: index), index)
    try index.commit()
    let file = other.url.appendingPathComponent("blobs/" + thief.file.lastPathComponent)
    #expect(
      FileManager.default.createFile(
        atPath: file.path, contents: blob, attributes: [.posixPermissions: 0o600]))
    for number in 0..<3 { try thief.forge(number, in: file) }
    let owner = other.folder(newKey)
    if reencrypts { #expect(try owner.reencrypt().remaining == ["name"]) }
    #expect(code { _ = try owner.read(named: "name") } == .damaged)
  }

  /// Otherwise a thief would make the blob unreadable for the time of the rotation, and so keep the
  /// entry.
  @Test func aBlobWithoutAHashThatCannotBeReadStopsARotationBeforeItBegins() throws {
    try place.folder().write(value, named: "name")
    let thief = try Thief(place, "name")
    try thief.index.save(thief.entry(ofVersion1: 1), forKey: "name")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o666], ofItemAtPath: thief.file.path)
    #expect(code { _ = try place.folder().rotate(openedBy: newKey) } == .denied)
    #expect(code { _ = try place.folder(newKey).names() } == .wrongKey)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o600], ofItemAtPath: thief.file.path)
    #expect(try place.folder().read(named: "name") == value)
    #expect(try place.folder().rotate(openedBy: newKey).resealedCount == 1)
    #expect(try place.folder(newKey).read(named: "name") == value)
  }

  @Test func aBlobWithoutAHashThatWasAwayWhileTheKeysWereReplacedIsNotReadAfterwards() throws {
    try place.folder().write(value, named: "name")
    let thief = try Thief(place, "name")
    try thief.index.save(thief.entry(ofVersion1: 1), forKey: "name")
    let away = place.file("away")
    try FileManager.default.moveItem(at: thief.file, to: away)
    #expect(try place.folder().rotate(openedBy: newKey).remaining == ["name"])
    try FileManager.default.moveItem(at: away, to: thief.file)
    try thief.forge(1)
    let owner = place.folder(newKey)
    #expect(code { _ = try owner.read(named: "name") } == .damaged)
    #expect(try owner.reencrypt().remaining == ["name"])
    #expect(code { _ = try owner.read(named: "name") } == .damaged)
  }

  private func onlyRow() throws -> (name: NameHash, record: [UInt8])? {
    let index = try Connection(
      place.path + "/index.vault", .readOnly, until: .now + .seconds(60))
    return try index.reading { () throws(StorageError) in
      var row: (NameHash, [UInt8])?
      try VaultRows.visit(index) { row = ($0, $1) }
      return row
    }
  }

  private func sequence(in index: Connection) throws -> Int64 {
    var greatest: Int64 = 0
    try VaultRows.visitNames(index) { number, _ in greatest = max(greatest, number) }
    return greatest
  }
}
