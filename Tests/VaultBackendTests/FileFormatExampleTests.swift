import CryptoCore
import Foundation
import StorageCore
import TestSupport
import Testing

@testable import VaultBackend

@Suite struct FileFormatExampleTests {
  private let document: FormatDocument
  private let keys: ManifestKeys
  private let name: NameHash

  init() throws {
    document = try FormatDocument()
    let keys = document.bytesOfLines("manifest-keys").map { SymmetricKey(data: Data($0)) }
    self.keys = ManifestKeys(
      records: try KeyedHash(keys[0]), removals: try KeyedHash(keys[1]),
      manifest: try SealingKey(keys[2]))
    name = try #require(NameHash(document.bytes("record-name")))
  }

  /// The figures with the empty buckets, which the example leaves out.
  private func whole(_ shown: [UInt8]) -> [UInt8] {
    var whole = [UInt8](repeating: 0, count: Manifest.bodySize)
    whole.replaceSubrange(..<88, with: shown[..<88])
    whole.replaceSubrange(88 + 14 * 16..<88 + 15 * 16, with: shown[88..<104])
    whole.replaceSubrange(88 + 63 * 16..<88 + 64 * 16, with: shown[104...])
    return whole
  }

  /// What is read of figures that are sealed here.
  private func read(figures: [UInt8]) throws -> Manifest {
    var sealed = [UInt8](repeating: 0, count: figures.count + SealingKey.overhead)
    var span = sealed.mutableSpan
    var output = unsafe span.mutableBytes
    let version: [UInt8] = [1]
    try keys.manifest.seal(
      unsafe figures.span.bytes, authenticating: unsafe version.span.bytes, into: &output)
    return try Manifest(reading: version + sealed, keys)
  }

  @Test func theWorkedExampleOfTheManifestIsWhatIsWritten() throws {
    var manifest = Manifest()
    manifest.generation = 3
    try manifest.add(document.bytes("payload-record"), name, keys)
    let removed = try #require(NameHash([UInt8](repeating: 0xFF, count: 64)))
    manifest.addRemoval(try RecordShare(ofRemoval: 3, removed, keys), removed)
    #expect(try Manifest(reading: document.bytes("manifest"), keys) == manifest)
    let shown = document.bytes("manifest-figures")
    #expect(shown.prefix(8) == [0, 0, 0, 0, 0, 0, 0, 3])
    #expect(try read(figures: whole(shown)) == manifest)

    let bytes = try manifest.bytes(keys)
    #expect(bytes.count == 1153 && bytes[0] == 1)
    #expect(try Manifest(reading: bytes, keys) == manifest)
    // The nonce, and with it all that follows, is another each time.
    #expect(try manifest.bytes(keys)[1...] != bytes[1...])
  }

  private func zeroKeys() throws -> ManifestKeys {
    let key = SymmetricKey(data: Data(repeating: 1, count: 32))
    let hash = try KeyedHash(key)
    return ManifestKeys(
      records: hash, removals: hash, manifest: try SealingKey(key))
  }

  @Test func aManifestWithAnyBitChangedIsRefused() throws {
    let keys = try zeroKeys()
    let bytes = try Manifest().bytes(keys)
    for bit in stride(from: 0, to: bytes.count * 8, by: 7) {
      var altered = bytes
      altered[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: StorageError.self) { try Manifest(reading: altered, keys) }
    }
    #expect(throws: StorageError.self) { try Manifest(reading: bytes.dropLast(), keys) }
    #expect(throws: StorageError.self) { try Manifest(reading: [], keys) }
    // The same figures say something else each time.
    #expect(try Manifest().bytes(keys).dropFirst(25) != bytes.dropFirst(25))
  }
}
