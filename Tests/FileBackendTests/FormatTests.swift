import Foundation
import TestSupport
import Testing

@testable import CryptoCore
@testable import FileBackend
@testable import StorageCore

/// The examples of docs/file-format.md, and entries that no writer makes.
@Suite struct FormatTests {
  private static let store = StoreID(Array(0x10...0x1F))!
  private static let blob = BlobID(Array(0x40...0x4F))!
  private static let key = SymmetricKey(data: Array(0...0x1F))
  private static let value = (0..<segment + 5).map { UInt8($0 % 251) }

  private let document: FormatDocument

  init() throws { document = try FormatDocument() }

  @Test func everyExampleIsTested() {
    let names = document.names.filter { $0.hasPrefix("folder-") }
    #expect(
      names == [
        "folder-associated-data", "folder-segments-aes", "folder-segments-chacha",
        "folder-digests", "folder-mark-key", "folder-blob-entry", "folder-small-entry",
      ])
  }

  @Test func theAssociatedDataOfTheExampleIsWhatSegmentsAreBoundTo() {
    let bytes = SegmentLayout.associatedData(store: Self.store, blob: Self.blob)
    #expect(bytes == document.bytes("folder-associated-data"))
  }

  @Test(arguments: [
    (AEADAlgorithm.aes256GCM, "folder-segments-aes"), (.chaCha20Poly1305, "folder-segments-chacha"),
  ])
  func theSegmentsOfTheExampleAreSealedAndOpened(
    _ algorithm: AEADAlgorithm, _ name: String
  ) throws {
    let lines = document.bytesOfLines(name)
    let bound = document.bytes("folder-associated-data")
    let sealer = try SegmentSealer(algorithm, key: Self.key, associatedData: bound)
    let first = try seal(Array(Self.value[..<segment]), isLast: false, sealer)
    let last = try seal(Array(Self.value[segment...]), isLast: true, sealer)
    #expect(Array(first.prefix(16)) == lines[0] && Array(first.suffix(16)) == lines[1])
    #expect(last == lines[2])
    #expect(throws: CryptoError.self) { try seal([1], isLast: true, sealer) }
    let opener = try SegmentOpener(algorithm, key: Self.key, associatedData: bound)
    #expect(try open(first, 0, isLast: false, opener) == Array(Self.value[..<segment]))
    #expect(try open(last, 1, isLast: true, opener) == Array(Self.value[segment...]))
    for (number, isLast) in [(1 as UInt64, false), (0, true), (2, true), (1 << 40 + 1, true)] {
      #expect(throws: CryptoError.self) { try open(last, number, isLast: isLast, opener) }
    }
    #expect(throws: CryptoError.self) { try open(Array(last.prefix(16)), 1, isLast: true, opener) }
  }

  private func seal(
    _ bytes: [UInt8], isLast: Bool, _ sealer: SegmentSealer
  ) throws -> [UInt8] {
    var output = [UInt8](repeating: 0, count: bytes.count + 16)
    var span = output.mutableSpan
    var raw = unsafe span.mutableBytes
    try unsafe sealer.seal(bytes.span.bytes, isLast: isLast, into: &raw)
    return output
  }

  private func open(
    _ sealed: [UInt8], _ number: UInt64, isLast: Bool, _ opener: SegmentOpener
  ) throws -> [UInt8] {
    var output = [UInt8](repeating: 1, count: max(sealed.count - 16, 0))
    var span = output.mutableSpan
    var raw = unsafe span.mutableBytes
    try unsafe opener.open(sealed.span.bytes, number: number, isLast: isLast, into: &raw)
    return output
  }

  private func entry(_ bytes: [UInt8]) throws -> FileEntry {
    try unsafe FileEntry(reading: bytes.span.bytes)
  }

  @Test func theEntriesOfTheExampleAreWhatIsWritten() throws {
    let bytes = document.bytes("folder-blob-entry")
    let blob = BlobEntry(
      algorithm: .aes256GCM, length: segment + 5, id: Self.blob, key: Self.key,
      lastTag: Array(document.bytesOfLines("folder-segments-aes")[2].suffix(16)),
      digest: document.bytesOfLines("folder-digests")[2], mark: Array(bytes.suffix(32)))
    #expect(Array(FileEntry.blob(blob).encoded()) == bytes && bytes.count == BlobEntry.byteCount)
    #expect(try entry(bytes).blob == blob)
    let small = document.bytes("folder-small-entry")
    #expect(Array(FileEntry.small(Data("hello".utf8)).encoded()) == small)
    guard case .small(let value) = try entry(small) else {
      Issue.record("not small")
      return
    }
    #expect(value == Data("hello".utf8))
  }

  @Test func theHashesOfTheExampleAreThoseOfItsSegments() throws {
    let lines = document.bytesOfLines("folder-digests")
    let sealer = try SegmentSealer(
      .aes256GCM, key: Self.key, associatedData: document.bytes("folder-associated-data"))
    let segments = [
      try seal(Array(Self.value[..<segment]), isLast: false, sealer),
      try seal(Array(Self.value[segment...]), isLast: true, sealer),
    ]
    let digest = try StreamDigest()
    for (number, sealed) in segments.enumerated() {
      #expect(try unsafe digest.append(sealed.span.bytes) == lines[number])
    }
    #expect(try digest.finish() == lines[2])
    let other = try StreamDigest()
    for sealed in segments.reversed() { try unsafe other.append(sealed.span.bytes) }
    #expect(try other.finish() != lines[2])
  }

  @Test func theMarkOfTheExampleIsMadeWithItsRootKey() throws {
    let bytes = document.bytes("folder-blob-entry")
    let message = Array(try #require(try entry(bytes).blob).encoded(withMark: false))
    #expect(message == Array(bytes[..<111]))
    let root = RootKey(SymmetricKey(data: Array(0x60...0x7F)), store: Self.store)
    let known = try KeyedHash(SymmetricKey(data: document.bytes("folder-mark-key")))
    for marks in [try root.marks(), known] {
      #expect(try unsafe marks.hash(message.span.bytes).bytes.prefix(32) == bytes.suffix(32))
    }
  }

  @Test func entriesThatNoWriterMakesAreRefused() throws {
    let good = document.bytes("folder-blob-entry")
    func code(_ change: (inout [UInt8]) -> Void) -> StorageError.Code? {
      var bytes = good
      change(&bytes)
      do {
        _ = try entry(bytes)
        return nil
      } catch {
        return (error as? StorageError)?.code
      }
    }
    #expect(code { _ in } == nil)
    #expect(code { $0 = [] } == .damaged)
    #expect(code { $0 = [1] } == .damaged)
    for count in 2..<good.count { #expect(code { $0 = Array($0.prefix(count)) } == .damaged) }
    #expect(code { $0.append(0) } == .damaged)
    for version in [0, 2, 255] as [UInt8] { #expect(code { $0[0] = version } == .unsupported) }
    #expect(code { $0 = [2, 0, 1] } == .unsupported)
    for kind in [2, 255] as [UInt8] { #expect(code { $0[1] = kind } == .unsupported) }
    for algorithm in [0, 3, 4, 255] as [UInt8] {
      #expect(code { $0[2] = algorithm } == .unsupported)
    }
    // Lengths: as the index keeps it, one beyond the limit, and one that is negative where signed.
    for length in [0, 16_384, 1 << 44 + 1, 1 << 63, UInt64.max] as [UInt64] {
      #expect(
        code { $0.replaceSubrange(3..<11, with: SegmentLayout.bigEndian(length)) } == .damaged,
        "\(length)")
    }
    for length in [16_385, 1 << 44] as [UInt64] {
      #expect(code { $0.replaceSubrange(3..<11, with: SegmentLayout.bigEndian(length)) } == nil)
    }
    for size in [0, 1, 65_535, 65_537, UInt32.max] as [UInt32] {
      #expect(
        code { $0.replaceSubrange(11..<15, with: SegmentLayout.bigEndian(size)) } == .unsupported)
    }
    #expect(code { $0 = [1, 0] + [UInt8](repeating: 0, count: 16_384) } == nil)
    #expect(code { $0 = [1, 0] + [UInt8](repeating: 0, count: 16_385) } == .damaged)
  }

  @Test func namesOfBlobFilesHaveOneForm() {
    let id = Self.blob
    #expect(id.fileName == "404142434445464748494a4b4c4d4e4f")
    #expect(BlobID(fileName: id.fileName) == id)
    for name in [
      "", "40", id.fileName + "0", id.fileName.uppercased(), String(id.fileName.dropLast()) + "g",
      "../" + id.fileName.dropFirst(3), "４" + id.fileName.dropFirst(),
    ] { #expect(BlobID(fileName: name) == nil, "\(name)") }
  }
}
