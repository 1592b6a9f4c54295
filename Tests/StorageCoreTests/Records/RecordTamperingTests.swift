import CryptoCore
import StorageCore
import Testing

/// What a storage says of records that CryptoCore refuses; every way to damage one is tried there.
@Suite struct RecordTamperingTests {
  @Test(arguments: [AEADAlgorithm.aes256GCM, .chaCha20Poly1305, .xaes256GCM])
  func everyFlippedBitIsRefused(_ algorithm: AEADAlgorithm) throws {
    let delegate = OpenDelegate()
    let storage = DelegatedStorage.quiet(delegate, .key(.fresh), algorithm: algorithm)
    try storage.save("a value", forKey: "k")
    let (name, record) = try delegate.onlyRecord()
    for index in record.indices {
      for bit in 0..<8 {
        var damaged = record
        damaged[index] ^= 1 << bit
        try delegate.replace(name, with: damaged)
        let isUnknown = index == 0 || index == 1 && !(1...3).contains(damaged[1])
        let expected: StorageError.Code = isUnknown ? .unsupported : .damaged
        let found = error { _ = try storage.load(String.self, forKey: "k") }
        #expect(found?.code == expected && found?.key == "k", "byte \(index), bit \(bit)")
        #expect(try delegate.onlyRecord().record == damaged)
      }
    }
    try delegate.replace(name, with: record)
    #expect(try storage.load(forKey: "k") == "a value")
  }
}
