import CryptoCore
import DefaultsBackend
import Foundation
import Glibc
import StorageCore
import TestSupport
import Testing

@Suite struct FaultTests {
  /// What both a read and a write say, and that neither touches what is there.
  private func codes(in folder: TemporaryFolder) -> [StorageError.Code?] {
    let delegate = folder.delegate()
    return [
      code { _ = try delegate.record(for: name(1)) }, code { try delegate.set([1], for: name(1)) },
      code { _ = try delegate.names() },
      code { _ = try delegate.updateHeader { header, _ in header = [1] } },
    ]
  }

  @Test(arguments: [[], [0], Array("garbage".utf8), Array("<?xml version=\"1.0\"?>".utf8)])
  func aFileThatIsNoSuiteIsDamagedAndNeverOverwritten(_ bytes: [UInt8]) throws {
    let folder = TemporaryFolder()
    try folder.put(bytes)
    #expect(codes(in: folder) == [.damaged, .damaged, .damaged, .damaged])
    #expect(folder.bytes == bytes)
  }

  /// A sparse file costs its maker nothing; what it claims to hold must cost us nothing either.
  @Test(arguments: Depth.cases([1, 2, 8], day: 1))
  func aSparseFileThatClaimsToHoldMillionsOfObjectsIsDamaged(_ offsetSize: Int) throws {
    let folder = TemporaryFolder()
    let size = 1 << 28
    for count in [size / 16, size / 64 + 3, size / 64 + 2, 1 << 20] {
      let table = size - 32 - count * offsetSize
      func word(_ value: Int) -> [UInt8] {
        (0..<8).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
      }
      try folder.put(Array("bplist00".utf8))
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file))
      try file.truncate(atOffset: UInt64(size - 32))
      try file.seekToEnd()
      try file.write(
        contentsOf: [0, 0, 0, 0, 0, 0, UInt8(offsetSize), 4] + word(count) + word(0) + word(table))
      try file.close()
      #expect(code { _ = try folder.delegate().record(for: name(1)) } == .damaged)
    }
  }

  @Test func noFlippedByteGivesAWrongValue() throws {
    let folder = TemporaryFolder()
    let storage = UserDefaultsStorage(folder.delegate(), keySource: .key(sampleKey))
    try storage.save("one", forKey: "first")
    try storage.save("two", forKey: "second")
    let bytes = try #require(folder.bytes)
    let keys = Self.keyRanges(of: bytes)
    for position in bytes.indices {
      var damaged = bytes
      damaged[position] ^= 1 << UInt8.random(in: 0...7)
      try folder.put(damaged)
      let opened = UserDefaultsStorage(folder.delegate(), keySource: .key(sampleKey))
      for (key, value) in [("first", "one"), ("second", "two")] {
        do throws(StorageError) {
          let found = try opened.load(String.self, forKey: key)
          let isMissing = found == nil && keys.contains { $0.contains(position) }
          #expect(found == value || isMissing, "byte \(position)")
        } catch {
          let expected: [StorageError.Code] = [.damaged, .unsupported, .keyUnavailable, .wrongKey]
          #expect(expected.contains(error.code), "byte \(position): \(error)")
        }
      }
    }
  }

  /// Where the names are: another name is an absent value, which no seal can show.
  private static func keyRanges(of bytes: [UInt8]) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var start = 0
    for position in 0...bytes.count {
      let isDigit =
        position < bytes.count && Character(UnicodeScalar(bytes[position])).isHexDigit
      if isDigit { continue }
      if position - start >= 128 { ranges.append(start..<position) }
      start = position + 1
    }
    return ranges
  }

  @Test func aLinkInPlaceOfTheFileIsDeniedAndNotFollowed() throws {
    let (folder, other) = (TemporaryFolder(), TemporaryFolder())
    try other.delegate().set([1], for: name(1))
    try FileManager.default.createSymbolicLink(
      atPath: folder.file, withDestinationPath: other.file)
    let before = other.bytes
    #expect(codes(in: folder) == [.denied, .denied, .denied, .denied])
    #expect(other.bytes == before)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.file) == other.file)
  }

  @Test(arguments: ["link", "FIFO", "folder"])
  func whatIsNoFileInItsPlaceIsDeniedAndDoesNotBlock(_ kind: String) throws {
    let folder = TemporaryFolder()
    switch kind {
    case "link": #expect(unsafe symlink(folder.path + "/nothing", folder.file) == 0)
    case "FIFO": #expect(unsafe mkfifo(folder.file, 0o600) == 0)
    default: #expect(unsafe mkdir(folder.file, 0o700) == 0)
    }
    #expect(codes(in: folder) == [.denied, .denied, .denied, .denied])
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/nothing"))
  }

  @Test func aFIFOInPlaceOfALockFileDoesNotBlock() throws {
    let folder = TemporaryFolder()
    #expect(unsafe mkfifo(folder.file + ".lock", 0o600) == 0)
    // Whether a FIFO can be locked is the system's affair; that it ends is ours.
    _ = code { try folder.delegate().set([1], for: name(1)) }
  }

  @Test func aFileInPlaceOfTheFolderIsUnavailable() throws {
    let folder = TemporaryFolder()
    try folder.put([1])
    let delegate = DefaultsDelegate(folder: folder.file, suiteName: "suite")
    #expect(code { _ = try delegate.record(for: name(1)) } == .unavailable)
    #expect(code { try delegate.set([1], for: name(1)) } == .unavailable)
  }

  @Test(arguments: [0o770, 0o707, 0o777])
  func aFolderInWhichOthersCanWriteIsDenied(_ mode: Int) throws {
    let folder = TemporaryFolder()
    try folder.delegate().set([1], for: name(1))
    let before = folder.bytes
    #expect(Machine.share(folder.path, mode))
    #expect(code { try folder.delegate().set([2], for: name(1)) } == .denied)
    #expect(try helper.run("get", folder.path, "1") == ["error denied"])
    #expect(folder.bytes == before)
  }

  @Test func aFolderBelowOneThatNobodyElseCanEnterIsTaken() throws {
    let outer = TemporaryFolder()
    let inner = outer.path + "/shared"
    #expect(unsafe mkdir(inner, 0o777) == 0 && chmod(inner, 0o777) == 0)
    let delegate = { DefaultsDelegate(folder: inner, suiteName: "suite") }
    try delegate().set([1], for: name(1))
    #expect(try delegate().record(for: name(1)) == [1])
    #expect(unsafe chmod(outer.path, 0o711) == 0)
    #expect(code { _ = try delegate().record(for: name(1)) } == .denied)
    #expect(code { try delegate().set([2], for: name(1)) } == .denied)
  }

  @Test func aFileThatOthersCanReadIsMendedByTheNextWrite() throws {
    let folder = TemporaryFolder()
    try folder.delegate().set([1], for: name(1))
    #expect(unsafe chmod(folder.file, 0o644) == 0)
    #expect(try folder.delegate().record(for: name(1)) == [1])
    try folder.delegate().set([2], for: name(1))
    let found = try FileManager.default.attributesOfItem(atPath: folder.file)
    #expect(found[.posixPermissions] as? Int == 0o600)
  }

  @Test func withoutAHomeTheStorageIsUnavailable() throws {
    let empty: [String: String?] = ["HOME": nil, "XDG_CONFIG_HOME": nil]
    #expect(try helper.run("public", "-", "suite", environment: empty) == ["error unavailable"])
    let relative: [String: String?] = ["HOME": nil, "XDG_CONFIG_HOME": "relative"]
    #expect(try helper.run("public", "-", "suite", environment: relative) == ["error unavailable"])
  }
}
