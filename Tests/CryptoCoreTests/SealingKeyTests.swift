import Foundation
import Testing

@testable import CryptoCore

@Suite struct SealingKeyTests {
  private let key: SealingKey
  private let message = Array("figures".utf8)
  private let data: [UInt8] = [2]

  init() throws { key = try SealingKey(SymmetricKey(data: Data(0..<32))) }

  private func seal(_ message: [UInt8], _ data: [UInt8]) throws -> [UInt8] {
    var sealed = [UInt8](repeating: 0, count: message.count + SealingKey.overhead)
    var span = sealed.mutableSpan
    var output = unsafe span.mutableBytes
    try key.seal(
      unsafe message.span.bytes, authenticating: unsafe data.span.bytes, into: &output)
    return sealed
  }

  private func open(
    _ sealed: [UInt8], _ data: [UInt8], with key: SealingKey? = nil
  ) throws -> [UInt8] {
    var message = [UInt8](repeating: 0xFF, count: max(0, sealed.count - SealingKey.overhead))
    var span = message.mutableSpan
    var output = unsafe span.mutableBytes
    try (key ?? self.key).open(
      unsafe sealed.span.bytes, authenticating: unsafe data.span.bytes, into: &output)
    return message
  }

  @Test func whatWasSealedOpens() throws {
    let sealed = try seal(message, data)
    #expect(sealed.count == message.count + 40)
    #expect(try open(sealed, data) == message)
  }

  @Test func noTwoSealsHaveANonceOrACiphertextInCommon() throws {
    let seals = try (0..<100).map { _ in try seal(message, data) }
    #expect(Set(seals.map { $0[..<24] }).count == 100)
    #expect(Set(seals.map { $0[24..<31] }).count == 100)
  }

  @Test func anyChangedBitIsRefused() throws {
    let sealed = try seal(message, data)
    for bit in 0..<sealed.count * 8 {
      var altered = sealed
      altered[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: CryptoError.self) { try open(altered, data) }
    }
  }

  @Test func otherDataAnotherKeyAndOtherLengthsAreRefused() throws {
    let sealed = try seal(message, data)
    let other = try SealingKey(SymmetricKey(data: Data(1..<33)))
    #expect(throws: CryptoError.self) { try open(sealed, [1]) }
    #expect(throws: CryptoError.self) { try open(sealed, []) }
    #expect(throws: CryptoError.self) { try open(sealed, data, with: other) }
    #expect(throws: CryptoError.self) { try open(Array(sealed.dropLast()), data) }
    #expect(throws: CryptoError.self) { try open([UInt8](sealed.prefix(40)), data) }
    #expect(throws: CryptoError.self) { try open([], data) }
    #expect(throws: CryptoError.self) {
      try SealingKey(SymmetricKey(data: Data(repeating: 1, count: 16)))
    }
  }
}
