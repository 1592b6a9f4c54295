import CryptoCore
import Testing

/// Every way to damage a record, for every algorithm.
struct RecordTamperingTests {
  private static let mark: UInt8 = 0xa5

  @Test(arguments: AEADAlgorithm.all)
  func aFlippedBitIsRefusedWhereverItIs(_ algorithm: AEADAlgorithm) throws {
    let fixture = try Fixture(algorithm)
    let record = try fixture.key.seal(randomBytes(21), for: fixture.context)
    for position in record.indices {
      for bit in 0..<8 {
        var damaged = record
        damaged[position] ^= 1 << bit
        let expected = Self.refusal(of: damaged, at: position)
        #expect(try refusal(of: damaged, by: fixture) == expected, "byte \(position), bit \(bit)")
      }
    }
  }

  /// The header says whose record it is, in the clear; behind it only the tag can tell.
  private static func refusal(of damaged: [UInt8], at position: Int) -> CryptoError.Code {
    switch position {
    case 0: .unsupported
    // The number of another algorithm, which is then not the one of this key.
    case 1: (1...3).contains(damaged[1]) ? .malformed : .unsupported
    case 2...5: .malformed
    default: .authenticationFailed
    }
  }

  @Test(arguments: AEADAlgorithm.all)
  func aTruncatedRecordIsRefusedAtEveryLength(_ algorithm: AEADAlgorithm) throws {
    let fixture = try Fixture(algorithm)
    let record = try fixture.key.seal(randomBytes(21), for: fixture.context)
    let overhead = DataKey.overhead(of: algorithm)
    for count in 0..<record.count {
      let answer = try refusal(of: Array(record.prefix(count)), by: fixture)
      #expect(answer == (count < overhead ? .malformed : .authenticationFailed), "\(count) bytes")
      let end = try refusal(of: Array(record.suffix(count)), by: fixture)
      #expect(end != nil, "the last \(count) bytes")
    }
  }

  @Test(arguments: AEADAlgorithm.all)
  func anExtendedRecordIsRefused(_ algorithm: AEADAlgorithm) throws {
    let fixture = try Fixture(algorithm)
    for size in [0, 1, 21] {
      let record = try fixture.key.seal(randomBytes(size), for: fixture.context)
      for count in 1...40 {
        for byte in [0, 0xff, record[record.count - 1]] as [UInt8] {
          let extended = record + [UInt8](repeating: byte, count: count)
          #expect(try refusal(of: extended, by: fixture) == .authenticationFailed)
        }
      }
      #expect(try refusal(of: record + record, by: fixture) == .authenticationFailed)
    }
  }

  @Test func aRecordOfAnotherAlgorithmUnderTheSameKeyIsRefused() throws {
    let material = try SymmetricKey.random()
    let fixture = try Fixture()
    for sealer in AEADAlgorithm.all {
      let key = try DataKey(material, id: 7, algorithm: sealer)
      var record = try key.seal(randomBytes(40), for: fixture.context)
      for opener in AEADAlgorithm.all where opener != sealer {
        let other = try DataKey(material, id: 7, algorithm: opener)
        #expect(code { _ = try other.open(record, for: fixture.context) } == .malformed)
        record[1] = opener.rawValue
        #expect(code { _ = try other.open(record, for: fixture.context) } == .authenticationFailed)
        record[1] = sealer.rawValue
      }
    }
  }

  /// The code on which all ways of opening agree, nil when the record opens.
  private func refusal(
    of record: [UInt8], by fixture: Fixture
  ) throws -> CryptoError.Code? {
    let size = max(0, record.count - DataKey.overhead(of: fixture.key.algorithm))
    var output = [UInt8](repeating: Self.mark, count: size)
    let first = code { try fixture.key.open(record, for: fixture.context, into: &output) }
    // Zeroes where decryption had begun, untouched where the header was refused: no plaintext.
    let rest: UInt8 = first == .authenticationFailed ? 0 : Self.mark
    #expect(output.allSatisfy { $0 == rest }, "a refused record left \(output.count) bytes")
    #expect(code { _ = try fixture.key.open(record, for: fixture.context) } == first)
    var isLent = false
    let third = code { try fixture.key.lend(record, for: fixture.context) { _ in isLent = true } }
    #expect(third == first)
    #expect(isLent == (first == nil), "the plaintext of a refused record was lent")
    return first
  }
}
