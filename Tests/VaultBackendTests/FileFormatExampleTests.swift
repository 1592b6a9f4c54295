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
      records: try KeyedHash(keys[0]), manifest: try AuthenticationKey(keys[1]))
    let name = try #require(NameHash(document.bytes("record-name")))
    var manifest = Manifest()
    manifest.generation = 2
    try manifest.add(document.bytes("payload-record"), name, manifestKeys)
    // The example leaves out the empty buckets.
    let shown = Array(document.bytes("manifest"))
    let empty = [UInt8](repeating: 0, count: 12)
    let buckets = (0..<64).flatMap { $0 == 14 ? Array(shown[49..<61]) : empty }
    let body = Array(shown[..<49]) + buckets
    #expect(try Manifest(reading: body + shown[61...], manifestKeys) == manifest)
    let bytes = try manifest.bytes(manifestKeys)
    #expect(bytes.count == 857)
    #expect(Array(bytes[..<817]) == body)
    #expect(try Manifest(reading: bytes, manifestKeys) == manifest)
    // The nonce, and with it the tag, is another each time.
    #expect(try manifest.bytes(manifestKeys)[817..<841] != bytes[817..<841])
  }

  @Test func aManifestWithAnyBitChangedIsRefused() throws {
    let key = SymmetricKey(data: Data(repeating: 1, count: 32))
    let keys = ManifestKeys(records: try KeyedHash(key), manifest: try AuthenticationKey(key))
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
    let key = SymmetricKey(data: Data(repeating: 1, count: 32))
    let keys = ManifestKeys(records: try KeyedHash(key), manifest: try AuthenticationKey(key))
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
