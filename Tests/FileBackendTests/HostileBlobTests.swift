import FileBackend
import Foundation
import Glibc
import TestSupport
import Testing

/// What an enemy who can write to the folder does to its blobs: an error with the right code, and
/// never a wrong byte.
@Suite struct HostileBlobTests {
  private let place = TemporarySealedFolder()

  /// Changes the file of the only blob.
  private func tamper(_ body: (inout Data) -> Void) throws {
    let file = try place.onlyBlob()
    var bytes = try Data(contentsOf: file)
    body(&bytes)
    try FileManager.default.removeItem(at: file)
    try write(bytes, to: file)
  }

  private func write(_ bytes: Data, to file: URL) throws {
    try bytes.write(to: file)
    #expect(unsafe chmod(file.path, 0o600) == 0)
  }

  private func readCode(_ name: String = "name") -> StorageError.Code? {
    code { _ = try place.folder().read(named: name) }
  }

  @Test(arguments: [AEADAlgorithm.aes256GCM, .chaCha20Poly1305])
  func everyFlippedBitOfASegmentIsDamage(_ algorithm: AEADAlgorithm) throws {
    let value = pattern(segment + 40)
    let folder = place.folder(algorithm: algorithm)
    try folder.write(value, named: "name")
    let file = try place.onlyBlob()
    let handle = try FileHandle(forUpdating: file)
    let size = segment + 40 + 32
    // All of the last segment, both tags, and bytes here and there of the first segment.
    let bytes =
      [0, 1, 15, 16, 1000, segment - 1] + Array(segment..<segment + 16)
      + Array(size - 56..<size)
    for byte in bytes {
      for bit in 0..<8 where byte % 4 == 0 || bit == byte % 8 {
        try handle.seek(toOffset: UInt64(byte))
        let old = try #require(try handle.read(upToCount: 1))[0]
        try handle.seek(toOffset: UInt64(byte))
        try handle.write(contentsOf: Data([old ^ 1 << UInt8(bit)]))
        #expect(code { _ = try folder.read(named: "name") } == .damaged, "byte \(byte) bit \(bit)")
        try handle.seek(toOffset: UInt64(byte))
        try handle.write(contentsOf: Data([old]))
      }
    }
    #expect(try folder.read(named: "name") == value)
  }

  @Test func aDamagedSegmentLeavesTheOthersReadable() throws {
    let value = pattern(4 * segment)
    try place.folder().write(value, named: "name")
    try tamper { $0[segment + 16 + 5] ^= 1 }
    let reader = try #require(try place.folder().reader(named: "name"))
    #expect(try reader.read(0..<segment) == value[..<segment])
    #expect(try reader.read(2 * segment..<4 * segment) == value[(2 * segment)...])
    #expect(code { _ = try reader.read(segment - 1..<segment + 1) } == .damaged)
    #expect(code { _ = try reader.read(segment..<segment + 1) } == .damaged)
    var given = 0
    #expect(throws: StorageError.self) { try reader.withChunks { given += $0.byteCount } }
    #expect(given == segment)
    do {
      _ = try reader.read(0..<value.count)
    } catch {
      #expect(error.key == "name" && error.path?.contains("blobs/") == true)
      #expect(error.message.contains("bytes 65536 to 131071"))
    }
  }

  struct Change: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let body: @Sendable (inout Data) -> Void
  }

  /// Whole segments of a value of four.
  static let changes = [
    Change(testDescription: "the last segment cut") { $0.removeLast(segment + 16) },
    Change(testDescription: "the last byte cut") { $0.removeLast() },
    Change(testDescription: "all cut") { $0 = Data() },
    Change(testDescription: "a byte appended") { $0.append(0) },
    Change(testDescription: "a segment appended") { $0 += $0.prefix(segment + 16) },
    Change(testDescription: "the first segment cut") { $0 = Data($0.dropFirst(segment + 16)) },
    Change(testDescription: "the first two swapped") { bytes in
      let size = segment + 16
      bytes = Data(bytes[size..<2 * size] + bytes[..<size] + bytes[(2 * size)...])
    },
    Change(testDescription: "the last two swapped") { bytes in
      let size = segment + 16
      bytes = Data(bytes[..<(2 * size)] + bytes[(3 * size)...] + bytes[(2 * size)..<(3 * size)])
    },
    Change(testDescription: "the first repeated in the second's place") { bytes in
      let size = segment + 16
      bytes = Data(bytes[..<size] + bytes[..<size] + bytes[(2 * size)...])
    },
    Change(testDescription: "zeros") { $0 = Data(count: $0.count) },
  ]

  @Test(arguments: changes) func segmentsThatAreMovedAreDamage(_ change: Change) throws {
    let folder = place.folder()
    try folder.write(pattern(4 * segment), named: "name")
    try tamper(change.body)
    #expect(readCode() == .damaged)
    #expect(code { _ = try folder.read(named: "name") } == .damaged)
    // The name can be used again.
    try folder.write(pattern(20_000), named: "name")
    #expect(try place.folder().read(named: "name") == pattern(20_000))
    #expect(place.blobs.count == 1)
  }

  @Test func blobsThatAreExchangedAreDamage() throws {
    let folder = place.folder()
    try folder.write(pattern(200_000, 1), named: "one")
    let one = try place.onlyBlob()
    try folder.write(pattern(200_000, 2), named: "two")
    let other = try #require(place.blobs.first { $0 != one.lastPathComponent })
    let two = one.deletingLastPathComponent().appendingPathComponent(other)
    let (first, second) = (try Data(contentsOf: one), try Data(contentsOf: two))
    try write(second, to: one)
    try write(first, to: two)
    #expect(readCode("one") == .damaged && readCode("two") == .damaged)
    // A segment of the one in the place of the same of the other, with the right end.
    try write(second.prefix(segment + 16) + first.dropFirst(segment + 16), to: one)
    #expect(readCode("one") == .damaged)
    try write(first, to: one)
    try write(second, to: two)
    #expect(readCode("one") == nil && readCode("two") == nil)
  }

  @Test func anOlderBlobInThePlaceOfTheNewOneIsDamage() throws {
    let folder = place.folder()
    try folder.write(pattern(200_000, 1), named: "name")
    let old = try Data(contentsOf: place.onlyBlob())
    try folder.write(pattern(200_000, 2), named: "name")
    try tamper { $0 = old }
    #expect(readCode() == .damaged)
  }

  @Test func anOlderIndexOverNewerBlobsIsDamageAndRemovesNothing() throws {
    try place.folder().write(pattern(200_000, 1), named: "name")
    let copy = place.file("old")
    try place.index().backup(to: copy)
    try place.folder().write(pattern(200_000, 2), named: "name")
    try place.index().restore(from: copy)
    do {
      _ = try place.folder().read(named: "name")
      Issue.record("it was read")
    } catch {
      #expect(error.code == .damaged && error.key == "name")
      #expect(error.message.contains("gone"))
    }
    #expect(place.blobs.count == 1)
  }

  // MARK: - Files that are none of ours

  enum Stranger: String, CaseIterable, Sendable {
    case link, pipe, socket, folder, device, writable, gone
  }

  @Test(arguments: Stranger.allCases)
  func whatIsNoFileOfOursIsRefusedAndNotWaitedFor(_ stranger: Stranger) throws {
    let folder = place.folder()
    try folder.write(pattern(200_000), named: "name")
    let file = try place.onlyBlob()
    let moved = place.file("moved")
    try FileManager.default.moveItem(at: file, to: moved)
    switch stranger {
    case .link:
      try FileManager.default.createSymbolicLink(at: file, withDestinationURL: moved)
    case .pipe: #expect(unsafe mkfifo(file.path, 0o600) == 0)
    case .socket: #expect(unsafe mknod(file.path, S_IFSOCK | 0o600, 0) == 0)
    case .folder: #expect(unsafe mkdir(file.path, 0o700) == 0)
    case .device:
      // /dev/zero, for whoever may make it.
      guard unsafe mknod(file.path, S_IFCHR | 0o600, 1 << 8 | 5) == 0 else { return }
    case .writable:
      try FileManager.default.copyItem(at: moved, to: file)
      #expect(unsafe chmod(file.path, 0o666) == 0)
    case .gone: break
    }
    let expected: StorageError.Code = stranger == .gone ? .damaged : .denied
    #expect(code { _ = try folder.read(named: "name") } == expected)
    #expect(readCode() == expected)
  }

  @Test(.enabled(if: Machine.canBecomeAnother, "needs the right to give files away"))
  func aBlobOfAnotherUserIsRefused() throws {
    try place.folder().write(pattern(200_000), named: "name")
    let file = try place.onlyBlob()
    #expect(unsafe chown(file.path, Machine.otherUser, Machine.otherUser) == 0)
    #expect(readCode() == .denied)
  }

  @Test(
    .enabled(if: Machine.canBecomeAnother, "needs the right to give files away"),
    arguments: ["blobs", "pending"])
  func aFolderOfAnotherUserIsRefused(_ name: String) throws {
    try place.folder().write(pattern(200_000), named: "name")
    let inner = place.url.appendingPathComponent(name).path
    #expect(unsafe chown(inner, Machine.otherUser, Machine.otherUser) == 0)
    #expect(readCode() == .denied)
    #expect(code { try place.folder().write(pattern(200_000), named: "other") } == .denied)
    #expect(code { try place.folder().remove("name") } == .denied)
    #expect(unsafe chown(inner, geteuid(), getegid()) == 0)
    #expect(readCode() == nil)
  }

  @Test(arguments: ["blobs", "pending"])
  func aFolderThatIsALinkOrThatOthersCanWriteToIsRefused(_ name: String) throws {
    try place.folder().write(pattern(200_000), named: "name")
    let inner = place.url.appendingPathComponent(name)
    #expect(unsafe chmod(inner.path, 0o777) == 0)
    #expect(readCode() == nil, "nobody else can enter the folder around it")
    #expect(unsafe chmod(place.path, 0o711) == 0)
    #expect(readCode() == .denied)
    #expect(code { try place.folder().write(pattern(200_000), named: "other") } == .denied)
    #expect(unsafe chmod(inner.path, 0o700) == 0)
    #expect(readCode() == nil)
    let moved = place.parent.appendingPathComponent("moved")
    try FileManager.default.moveItem(at: inner, to: moved)
    try FileManager.default.createSymbolicLink(at: inner, withDestinationURL: moved)
    #expect(readCode() == .denied)
    #expect(code { try place.folder().write(pattern(200_000), named: "other") } == .denied)
  }

  @Test
  func whatLiesInPendingAndIsNoMarkerIsLeftAndStopsNobody() throws {
    try place.folder().write(pattern(200_000), named: "name")
    let pending = place.url.appendingPathComponent("pending")
    let digits = String(repeating: "ab", count: 16)
    #expect(unsafe mkfifo(pending.appendingPathComponent(digits).path, 0o600) == 0)
    try FileManager.default.createSymbolicLink(
      at: pending.appendingPathComponent(String(repeating: "cd", count: 16)),
      withDestinationURL: place.file("elsewhere"))
    try Data("x".utf8).write(to: pending.appendingPathComponent("notes.txt"))
    #expect(try place.folder().read(named: "name") == pattern(200_000))
    #expect(place.pending.count == 3)
    #expect(!FileManager.default.fileExists(atPath: place.file("elsewhere").path))
  }
}
