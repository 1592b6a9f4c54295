import CryptoCore
import Foundation
import StorageCore
import Testing

@testable import FileBackend

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
}
