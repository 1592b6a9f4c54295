import CryptoCore
import Foundation
import StorageCore
import TestSupport
import Testing

@testable import VaultBackend

@Suite struct FileFormatExampleTests {
  @Test func theWorkedExampleOfTheManifestIsWhatIsWritten() throws {
    let document = try FormatDocument()
    let keys = document.bytesOfLines("manifest-keys").map { SymmetricKey(data: Data($0)) }
    let manifestKeys = ManifestKeys(
      records: try KeyedHash(keys[0]), manifest: try KeyedHash(keys[1]))
    let name = try #require(NameHash(document.bytes("record-name")))
    var manifest = Manifest()
    manifest.generation = 2
    try manifest.add(document.bytes("payload-record"), name, manifestKeys)
    let bytes = try manifest.bytes(manifestKeys)
    #expect(bytes.count == 849)
    // The example leaves out the empty buckets.
    let bucket = 49 + 14 * 12
    let shown = bytes[..<49] + bytes[bucket..<bucket + 12] + bytes[817...]
    #expect(Array(shown) == document.bytes("manifest"))
    #expect(bytes[49..<bucket].allSatisfy { $0 == 0 })
    #expect(bytes[(bucket + 12)..<817].allSatisfy { $0 == 0 })
    #expect(try Manifest(reading: bytes, manifestKeys) == manifest)
  }

  @Test func aManifestWithAnyBitChangedIsRefused() throws {
    let key = try KeyedHash(SymmetricKey(data: Data(repeating: 1, count: 32)))
    let keys = ManifestKeys(records: key, manifest: key)
    let bytes = try Manifest().bytes(keys)
    for bit in stride(from: 0, to: bytes.count * 8, by: 7) {
      var altered = bytes
      altered[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: StorageError.self) { try Manifest(reading: altered, keys) }
    }
    #expect(throws: StorageError.self) { try Manifest(reading: bytes.dropLast(), keys) }
    #expect(throws: StorageError.self) { try Manifest(reading: [], keys) }
  }

  @Test func whatIsAddedAndRemovedLeavesNoTrace() throws {
    let key = try KeyedHash(SymmetricKey(data: Data(repeating: 1, count: 32)))
    let keys = ManifestKeys(records: key, manifest: key)
    var manifest = Manifest()
    for index in 0..<200 {
      let name = try #require(NameHash([UInt8](repeating: UInt8(index), count: 64)))
      try manifest.add([UInt8(index)], name, keys)
    }
    for index in (0..<200).reversed() {
      let name = try #require(NameHash([UInt8](repeating: UInt8(index), count: 64)))
      try manifest.remove([UInt8(index)], name, keys)
    }
    #expect(manifest == Manifest())
  }
}
