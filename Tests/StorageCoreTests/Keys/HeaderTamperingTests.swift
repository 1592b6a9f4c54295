import CryptoCore
import StorageCore
import StorageTesting
import TestSupport
import Testing

@Suite struct HeaderTamperingTests {
  enum Secret: CaseIterable {
    case key, passphrase

    var source: KeySource {
      switch self {
      case .key: .key(.repeating(1))
      case .passphrase: .passphrase("a passphrase", derivation: .quick)
      }
    }
  }

  /// A store with one value, whose header is replaced.
  private struct Subject {
    let secret: Secret
    let delegate = OpenDelegate()
    let header: [UInt8]
    let records: [NameHash: [UInt8]]

    init(_ secret: Secret) throws {
      self.secret = secret
      try DelegatedStorage.quiet(delegate, secret.source).save("kept", forKey: "k")
      header = try delegate.headerBytes()
      records = try delegate.records()
    }

    /// What a fresh storage says of another header; nil means that the value was read.
    ///
    /// Neither header nor records may change.
    func refusal(of bytes: [UInt8]?, _ comment: Comment) throws -> StorageError.Code? {
      try delegate.replaceHeader(with: bytes)
      let storage = DelegatedStorage.quiet(delegate, secret.source)
      var value: String?
      let read = code { value = try storage.load(forKey: "k") }
      if read == nil {
        #expect(value == "kept", comment)
      } else {
        #expect(code { try storage.save("new", forKey: "k") } == read, comment)
      }
      #expect(try delegate.header().header == bytes, comment)
      #expect(try delegate.records() == records, comment)
      return read
    }
  }

  @Test(arguments: Secret.allCases)
  func everyFlippedBitIsRefusedInBoundedTime(_ secret: Secret) throws {
    let subject = try Subject(secret)
    let allowed: Set<StorageError.Code> = [.damaged, .unsupported, .wrongKey, .keyUnavailable]
    for index in subject.header.indices {
      for bit in Depth.cases(Array(0..<8), day: 2) {
        var header = subject.header
        header[index] ^= 1 << bit
        let place: Comment = "byte \(index), bit \(bit)"
        let code = try #require(try subject.refusal(of: header, place), place)
        #expect(allowed.contains(code), place)
      }
    }
    #expect(try subject.refusal(of: subject.header, "untouched") == nil)
  }

  @Test(arguments: Secret.allCases)
  func aTruncatedHeaderIsDamagedAtEveryLength(_ secret: Secret) throws {
    let subject = try Subject(secret)
    for count in 0..<subject.header.count {
      let header = Array(subject.header.prefix(count))
      #expect(try subject.refusal(of: header, "\(count)") == .damaged, "\(count)")
    }
    for count in [1, 2, 16, 255] {
      let header = subject.header + [UInt8](repeating: 0, count: count)
      #expect(try subject.refusal(of: header, "\(count) more") == .damaged)
    }
  }

  @Test func aLostHeaderIsDamagedWhileRecordsExist() throws {
    let subject = try Subject(.key)
    #expect(try subject.refusal(of: nil, "lost") == .damaged)
    // Also for a source that could make a key.
    let folder = try TemporaryFolder()
    let storage = DelegatedStorage.quiet(subject.delegate, .file(folder.file("store.key")))
    #expect(code { try storage.save("new", forKey: "k") } == .damaged)
    #expect(code { try storage.open() } == .damaged)
    #expect(code { try storage.delete(forKey: "k") } == .damaged)
    #expect(try folder.contents().isEmpty)
    #expect(try subject.delegate.header().header == nil)
  }

  @Test func theHeaderOfAnotherStoreIsRefused() throws {
    let (subject, other) = (try Subject(.key), try Subject(.key))
    try subject.delegate.replaceHeader(with: other.header)
    // It opens, by the same key, and leads to none of the records.
    let storage = DelegatedStorage.quiet(subject.delegate, subject.secret.source)
    #expect(try storage.load(String.self, forKey: "k") == nil)
    #expect(code { _ = try storage.keys() } == .damaged)
    #expect(try subject.delegate.records() == subject.records)
  }

  @Test func theSlotOfAnotherStoreDoesNotOpenThisOne() throws {
    // The same key and the same bytes, but a slot is bound to its store.
    let (subject, other) = (try Subject(.key), try Subject(.key))
    var header = subject.header
    let slot = 26..<header.count - 32
    header.replaceSubrange(slot, with: other.header[slot])
    #expect(try subject.refusal(of: header, "a foreign slot") == .damaged)
  }
}
