import Foundation
import Testing

@testable import CryptoCore
@testable import FileBackend

/// Somebody who has the keys that a folder had, copies of what it had then, and can write to its
/// files.
struct Thief {
  let index: VaultStorage
  /// The entry of the name, as it was, and its blob's file.
  let entry: [UInt8]
  let blob: BlobEntry
  let file: URL
  private let place: TemporarySealedFolder
  private let store: StoreID

  /// Takes what there is of a name, before the keys are replaced.
  init(_ place: TemporarySealedFolder, _ name: String) throws {
    self.place = place
    index = place.index()
    let bytes = try #require(try index.load(Data.self, forKey: name))
    let known = try FileEntry(reading: bytes.bytes).blob
    let blob = try #require(known)
    entry = Array(bytes)
    self.blob = blob
    file = place.url.appendingPathComponent("blobs/" + blob.id.fileName)
    store = try place.folder().storeID()
  }

  /// Puts other bytes, sealed under the key that the blob had, in the place of a segment of any
  /// blob's file.
  ///
  /// Neither the file's length nor its last tag changes.
  func forge(_ number: Int, in file: URL? = nil) throws {
    let sealer = try SegmentSealer(
      blob.algorithm, key: blob.key, associatedData: blob.associatedData(in: store))
    var sealed = [UInt8](repeating: 0, count: segment + 16)
    let forged = [UInt8](repeating: 0x66, count: segment)
    for _ in 0...number {
      var span = sealed.mutableSpan
      var output = unsafe span.mutableBytes
      try unsafe sealer.seal(forged.span.bytes, isLast: false, into: &output)
    }
    let handle = try FileHandle(forUpdating: file ?? self.file)
    try handle.seek(toOffset: UInt64(number * (segment + 16)))
    try handle.write(contentsOf: Data(sealed))
    try handle.close()
  }
}
