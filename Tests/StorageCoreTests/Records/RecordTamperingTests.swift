import CryptoCore
import StorageCore
import Testing

@Suite struct RecordTamperingTests {
  static let algorithms: [AEADAlgorithm] = [.aes256GCM, .chaCha20Poly1305, .xaes256GCM]

  /// A storage whose only value is under "k", and its raw record.
  private struct Subject {
    let delegate = OpenDelegate()
    let storage: DelegatedStorage
    let name: NameHash
    let record: [UInt8]

    init(_ algorithm: AEADAlgorithm = .aes256GCM) throws {
      storage = .quiet(delegate, .key(.fresh), algorithm: algorithm)
      try storage.save("a value", forKey: "k")
      (name, record) = try delegate.onlyRecord()
    }

    /// What a read says of `bytes` in the place of the record, which must stay there.
    func refusal(of bytes: [UInt8]) throws -> StorageError.Code? {
      try delegate.replace(name, with: bytes)
      let found = error { _ = try storage.load(String.self, forKey: "k") }
      #expect(found == nil || found?.key == "k")
      #expect(try delegate.onlyRecord().record == bytes)
      return found?.code
    }
  }

  @Test(arguments: algorithms)
  func everyFlippedBitIsRefused(_ algorithm: AEADAlgorithm) throws {
    let subject = try Subject(algorithm)
    for index in subject.record.indices {
      for bit in 0..<8 {
        var record = subject.record
        record[index] ^= 1 << bit
        let isUnknown = index == 0 || index == 1 && !(1...3).contains(record[1])
        let expected: StorageError.Code = isUnknown ? .unsupported : .damaged
        #expect(try subject.refusal(of: record) == expected, "byte \(index), bit \(bit)")
      }
    }
    #expect(try subject.refusal(of: subject.record) == nil)
    #expect(try subject.storage.load(forKey: "k") == "a value")
  }

  @Test(arguments: algorithms)
  func aTruncatedRecordIsRefusedAtEveryLength(_ algorithm: AEADAlgorithm) throws {
    let subject = try Subject(algorithm)
    for count in 0..<subject.record.count {
      #expect(try subject.refusal(of: Array(subject.record.prefix(count))) == .damaged, "\(count)")
    }
    for count in 1..<subject.record.count {
      let code = try subject.refusal(of: Array(subject.record.dropFirst(count)))
      #expect(code == .damaged || code == .unsupported, "\(count)")
    }
  }

  @Test(arguments: algorithms)
  func anExtendedRecordIsRefused(_ algorithm: AEADAlgorithm) throws {
    let subject = try Subject(algorithm)
    for count in 1...40 {
      let zeros = [UInt8](repeating: 0, count: count)
      #expect(try subject.refusal(of: subject.record + zeros) == .damaged)
      #expect(try subject.refusal(of: subject.record + subject.record.prefix(count)) == .damaged)
      let inFront = try subject.refusal(of: zeros + subject.record)
      #expect(inFront == .unsupported)
    }
  }

  @Test(arguments: [0, 2, 3, 0x7F, 0x80, 0xFF] as [UInt8])
  func aRecordOfAnotherVersionIsUnsupported(_ version: UInt8) throws {
    let subject = try Subject()
    var record = subject.record
    record[0] = version
    #expect(try subject.refusal(of: record) == .unsupported)
  }

  @Test(arguments: [0, 4, 5, 0x7F, 0xFF] as [UInt8])
  func aRecordOfAnUnknownAlgorithmIsUnsupported(_ algorithm: UInt8) throws {
    let subject = try Subject()
    var record = subject.record
    record[1] = algorithm
    #expect(try subject.refusal(of: record) == .unsupported)
  }

  @Test(arguments: [0, 2, 0x0100_0000, .max] as [UInt32])
  func aRecordOfAnUnknownKeyIsDamaged(_ id: UInt32) throws {
    let subject = try Subject()
    var record = subject.record
    record.replaceSubrange(2..<6, with: (0..<4).map { UInt8(id >> (24 - 8 * $0) & 255) })
    #expect(try subject.refusal(of: record) == .damaged)
  }

  @Test func noCallMakesAValueOfADamagedRecordOrReplacesIt() throws {
    let subject = try Subject()
    var record = subject.record
    record[record.count - 1] ^= 1
    try subject.delegate.replace(subject.name, with: record)
    let storage = subject.storage

    #expect(storage.string(forKey: "k") == nil)
    #expect(storage.data(forKey: "k") == nil)
    #expect(storage.array(forKey: "k") == nil)
    #expect(storage.integer(forKey: "k") == 0)
    #expect(try storage.contains("k"))
    #expect(try storage.saveIfAbsent("new", forKey: "k") == false)
    storage.register(defaults: ["k": "new"])
    #expect(code { _ = try storage.keys() } == .damaged)
    #expect(code { try storage.update(String.self, forKey: "k") { $0 = "new" } } == .damaged)
    #expect(try subject.delegate.onlyRecord().record == record)
  }

  @Test func aDamagedRecordLeavesTheOthersReadable() throws {
    let subject = try Subject()
    try subject.storage.save("another", forKey: "other")
    try subject.delegate.replace(subject.name, with: [])
    #expect(code { _ = try subject.storage.load(String.self, forKey: "k") } == .damaged)
    #expect(try subject.storage.load(forKey: "other") == "another")
  }

  @Test func savingOnPurposeReplacesADamagedRecord() throws {
    let subject = try Subject()
    try subject.delegate.replace(subject.name, with: [1, 2, 3])
    try subject.storage.save("new", forKey: "k")
    #expect(try subject.storage.load(forKey: "k") == "new")
  }
}
