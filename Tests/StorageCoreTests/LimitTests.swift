import CryptoCore
import Foundation
import Testing

@testable import StorageCore

/// Limits of the guide "Limits" that no other suite tries.
@Suite struct LimitTests {
  private struct Provider: KeyProvider {
    let identifier: String
    func material() throws(StorageError) -> KeyMaterial? { .key(.repeating(1)) }
  }

  @Test func theIdentifierOfASourceHasAtMost1024Bytes() throws {
    func storage(_ count: Int) -> DelegatedStorage {
      .quiet(
        OpenDelegate(), .provider(Provider(identifier: String(repeating: "i", count: count))))
    }
    let longest = storage(1024)
    try longest.save(1, forKey: "k")
    #expect(try longest.load(forKey: "k") == 1)
    #expect(code { try storage(1025).save(1, forKey: "k") } == .invalid)
  }

  @Test func aStoreHasAtMost1024DataKeys() throws {
    var keyset = try Keyset(algorithm: .aes256GCM)
    for _ in 1..<1024 { try keyset.addPrimary() }
    let read = try keyset.bytes().withBytes { (bytes) throws(StorageError) in
      try Keyset(reading: bytes)
    }
    #expect(read.entries.count == 1024 && read.primaryID == 1024)
    #expect(code { try keyset.addPrimary() } == .full)
    #expect(keyset.entries.count == 1024 && keyset.primaryID == 1024)
  }

  @Test func anAuthenticationTagOfAMebibyteBindsWithItsLastByte() throws {
    let delegate = OpenDelegate()
    let tag = String(repeating: "t", count: 1 << 20)
    try DelegatedStorage.quiet(delegate, .key(.repeating(1)), tag: tag).save("v", forKey: "k")
    let same = DelegatedStorage.quiet(delegate, .key(.repeating(1)), tag: tag)
    #expect(try same.load(forKey: "k") == "v")
    let other = DelegatedStorage.quiet(delegate, .key(.repeating(1)), tag: tag.dropLast() + "u")
    #expect(code { _ = try other.load(String.self, forKey: "k") } == .damaged)
  }

  @Test(arguments: [
    (AEADAlgorithm.aes256GCM, 37), (.chaCha20Poly1305, 37), (.xaes256GCM, 49),
  ])
  func aRecordIsLongerThanItsValueByAsManyBytesAsTheGuideSays(
    _ algorithm: AEADAlgorithm, _ more: Int
  ) throws {
    let delegate = OpenDelegate()
    let storage = DelegatedStorage.quiet(delegate, .key(.repeating(1)), algorithm: algorithm)
    try storage.save(String(repeating: "x", count: 100), forKey: "a key")
    #expect(try delegate.onlyRecord().record.count == 100 + more + 5 + 5)
    try storage.save(7, forKey: "a key")
    #expect(try delegate.onlyRecord().record.count == 8 + more + 5 + 1)
  }
}
