import Foundation
import Testing

@testable import CryptoCore

@Suite struct AuthenticationKeyTests {
  private let message = [UInt8]((0..<3).flatMap { _ in UInt8(0)..<200 })
  private let secret = SymmetricKey(data: Data(0..<32))
  private let key: AuthenticationKey

  init() throws { key = try AuthenticationKey(secret) }

  private func seal(_ message: [UInt8]) throws -> [UInt8] {
    var seal = [UInt8](repeating: 0, count: AuthenticationKey.sealSize)
    var span = seal.mutableSpan
    var output = unsafe span.mutableBytes
    try unsafe key.seal(of: message.span.bytes, into: &output)
    return seal
  }

  private func check(_ seal: [UInt8], _ message: [UInt8]) throws(CryptoError) {
    try unsafe key.check(seal.span.bytes, of: message.span.bytes)
  }

  /// Nonce and tag were made by another implementation.
  @Test func aSealOfAnotherImplementationIsTaken() throws {
    let tag: [UInt8] = [
      0xcf, 0x06, 0xa9, 0xa3, 0x53, 0x02, 0x75, 0x08, 0x53, 0xac, 0xba, 0xfa, 0x1c, 0x11, 0x24,
      0xcf,
    ]
    try check(Array(UInt8(100)..<124) + tag, message)
  }

  @Test(arguments: [0, 1, 15, 16, 17, 817, 100_000])
  func whatWasSealedChecks(count: Int) throws {
    let message = [UInt8](repeating: 7, count: count)
    try check(try seal(message), message)
  }

  @Test func aSealOrAMessageWithAnyBitChangedIsRefused() throws {
    let seal = try seal(message)
    for bit in 0..<seal.count * 8 {
      var altered = seal
      altered[bit / 8] ^= 1 << UInt8(bit % 8)
      let error = #expect(throws: CryptoError.self) { try check(altered, message) }
      #expect(error?.code == .authenticationFailed)
    }
    for bit in stride(from: 0, to: message.count * 8, by: 13) {
      var altered = message
      altered[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: CryptoError.self) { try check(seal, altered) }
    }
    #expect(throws: CryptoError.self) { try check(seal, message.dropLast()) }
    #expect(throws: CryptoError.self) { try check(seal, message + [0]) }
    try check(seal, message)
  }

  @Test func aSealOfTheWrongLengthIsRefused() throws {
    let seal = try seal(message)
    for wrong in [[], seal.dropLast(), seal + [0]] {
      let error = #expect(throws: CryptoError.self) { try check(Array(wrong), message) }
      #expect(error?.code == .invalidParameter)
    }
    var short = [UInt8](repeating: 0, count: 39)
    #expect(throws: CryptoError.self) {
      var span = short.mutableSpan
      var output = unsafe span.mutableBytes
      try unsafe key.seal(of: message.span.bytes, into: &output)
    }
  }

  @Test func aSealOfAnotherKeyIsRefused() throws {
    let other = try AuthenticationKey(SymmetricKey(data: Data(1..<33)))
    let seal = try seal(message)
    #expect(throws: CryptoError.self) {
      try unsafe other.check(seal.span.bytes, of: message.span.bytes)
    }
  }

  @Test func aKeyOfAnotherLengthIsRefused() throws {
    #expect(throws: CryptoError.self) {
      try AuthenticationKey(SymmetricKey(data: Data(repeating: 1, count: 16)))
    }
  }

  @Test func noNonceComesTwice() throws {
    let nonces = try (0..<1000).map { _ in try Array(seal(message).prefix(24)) }
    #expect(Set(nonces).count == nonces.count)
  }

  @Test func manyThreadsSealAndCheckAtOnce() throws {
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      let message = [UInt8](repeating: UInt8(thread), count: 300)
      for _ in 0..<500 {
        do {
          try check(try seal(message), message)
        } catch {
          Issue.record(error)
        }
      }
    }
  }
}
