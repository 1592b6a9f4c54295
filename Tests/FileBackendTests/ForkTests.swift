import FileBackend
import Foundation
import TestSupport
import Testing

/// A child of fork(2) does nothing to what its parent is writing.
///
/// The helper program forks.
@Suite struct ForkTests {
  private let place = TemporarySealedFolder()

  @Test func aHandleOfTheParentIsOfNoUseInAChildAndStaysWhole() throws {
    try place.folder().write(pattern(50_000), named: "key")
    let lines = try helper.run("fork-writer", place.path)
    let ends = "write exited(10); commit exited(10); abandon exited(0); release exited(0); "
    // The marker was there when the children had ended.
    #expect(lines == [ends + "1 3 600000 true"])
    #expect(place.blobs.count == 1 && place.pending == [])
  }

  // MARK: - Before the index names a blob

  @Test(arguments: [false, true]) func aNewFileThatIsGoneOrReplacedIsNotNamed(
    _ isReplaced: Bool
  ) throws {
    let folder = place.folder()
    try folder.write(pattern(50_000), named: "name")
    let old = try place.onlyBlob()
    let writer = try folder.writer(named: "name")
    try writer.write(pattern(300_000, 2))
    let new = try #require(place.blobs.first { $0 != old.lastPathComponent })
    let file = place.url.appendingPathComponent("blobs/" + new)
    let bytes = try Data(contentsOf: file)
    try FileManager.default.removeItem(at: file)
    if isReplaced { try bytes.write(to: file) }
    #expect(code { try writer.commit() } == .io)
    #expect(try folder.read(named: "name") == pattern(50_000))
    #expect(try folder.verify().isSound && place.pending == [])
  }

  @Test func aNewFileThatIsGoneFailsATransactionAsAWhole() throws {
    let folder = place.folder()
    #expect(
      code {
        try folder.transaction { transaction in
          try transaction.write(pattern(100), named: "small")
          try transaction.write(pattern(50_000), named: "large")
          try FileManager.default.removeItem(at: place.onlyBlob())
        }
      } == .io)
    #expect(try folder.names() == [] && place.pending == [])
  }
}
