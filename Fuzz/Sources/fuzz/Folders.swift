import Foundation
import StorageCore

@testable import CryptoCore
@testable import FileBackend

extension Target {
  /// What the index of a sealed folder has under a name: who writes it has the keys.
  static let entry = reader(
    "entry", longest: SegmentLayout.entryLimit + 16,
    seeds: {
      let hash = [UInt8](repeating: 3, count: 32)
      let blob = BlobEntry(
        algorithm: .aes256GCM, length: 100_000, id: BlobID([UInt8](repeating: 1, count: 16))!,
        key: Sample.key, lastTag: [UInt8](repeating: 2, count: 16), digest: hash, mark: hash)
      let entries = [FileEntry.small(Data()), .small(Data(Sample.text.utf8)), .blob(blob)]
      return entries.map { Array($0.encoded()) }
    },
    read: { bytes in try unsafe FileEntry(reading: bytes.span.bytes) },
    write: { entry in Array(entry.encoded()) })

  /// The file of a blob with one segment: nothing but what was sealed opens.
  static let segment = Target(
    name: "segment", seeds: { [try Segments().sealed] },
    make: {
      let segments = try Segments()
      return { input in try segments.check(input) }
    })
}

/// A stream of one segment, under keys that are the same in each run.
private struct Segments {
  let sealed: [UInt8]
  private let opener: SegmentOpener

  init() throws {
    let bound = SegmentLayout.associatedData(
      store: Sample.store, blob: BlobID([UInt8](repeating: 1, count: 16))!)
    let sealer = try SegmentSealer(.aes256GCM, key: Sample.key, associatedData: bound)
    opener = try SegmentOpener(.aes256GCM, key: Sample.key, associatedData: bound)
    let text = Array(Sample.text.utf8)
    var output = [UInt8](repeating: 0, count: text.count + SegmentLayout.tagSize)
    var span = output.mutableSpan
    var raw = unsafe span.mutableBytes
    try unsafe sealer.seal(text.span.bytes, isLast: true, into: &raw)
    sealed = output
  }

  func check(_ input: [UInt8]) throws {
    var output = [UInt8](repeating: 1, count: max(0, input.count - SegmentLayout.tagSize))
    do throws(CryptoError) {
      var span = output.mutableSpan
      var raw = unsafe span.mutableBytes
      try unsafe opener.open(input.span.bytes, number: 0, isLast: true, into: &raw)
    } catch {
      guard error.code == .authenticationFailed || error.code == .malformed else { throw error }
      guard error.code == .malformed || output.allSatisfy({ $0 == 0 }) else {
        finding("bytes of a segment that was refused are left")
      }
      return
    }
    guard input == sealed else { finding("a forged segment opened") }
  }
}
