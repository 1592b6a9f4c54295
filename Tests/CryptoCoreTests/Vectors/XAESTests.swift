import TestSupport
import Testing

@testable import CryptoCore

/// The vectors of C2SP, https://c2sp.org/XAES-256-GCM, and its accumulated test.
struct XAESTests {
  @Test(
    arguments: [
      (0x01, "", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"),
      (
        0x03, "c2sp.org/XAES-256-GCM", "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"
      ),
    ] as [(UInt8, String, String)])
  func theVectorsOfTheSpecificationHold(
    keyByte: UInt8, associatedData: String, expected: String
  ) throws {
    let key = try AEADKey(
      bytes: [UInt8](repeating: keyByte, count: 32), algorithm: .xaes256GCM)
    let nonce = Array("ABCDEFGHIJKLMNOPQRSTUVWX".utf8)
    let plaintext = Array("XAES-256-GCM".utf8)
    let sealed = try key.seal(plaintext, nonce: nonce, associatedData: Array(associatedData.utf8))
    #expect(sealed.hex == expected)
    let opened = try key.open(
      Array(sealed.dropLast(16)), tag: sealed.suffix(16), nonce: nonce,
      associatedData: Array(associatedData.utf8))
    #expect(opened == plaintext)
    print("vectors: C2SP XAES-256-GCM, key \([keyByte].hex): 1 run, 0 of them refused")
  }

  /// Keys, nonces, texts and associated data of 0 to 255 bytes from one SHAKE128 stream; the
  /// ciphertexts go into another.
  @Test func theAccumulatedTestOfTheSpecificationHolds() throws {
    var stream = SHAKE128()
    var digest = SHAKE128()
    var isOpened = true
    for _ in 0..<10_000 {
      let key = try AEADKey(bytes: stream.squeeze(32), algorithm: .xaes256GCM)
      let nonce = stream.squeeze(24)
      let plaintext = stream.squeeze(Int(stream.squeeze(1)[0]))
      let associatedData = stream.squeeze(Int(stream.squeeze(1)[0]))
      let sealed = try key.seal(plaintext, nonce: nonce, associatedData: associatedData)
      let opened = try key.open(
        Array(sealed.dropLast(16)), tag: sealed.suffix(16), nonce: nonce,
        associatedData: associatedData)
      isOpened = isOpened && opened == plaintext
      digest.absorb(sealed)
    }
    print("vectors: C2SP XAES-256-GCM accumulated: 10000 run, 0 of them refused")
    #expect(isOpened)
    #expect(
      digest.squeeze(32).hex
        == "e6b9edf2df6cec60c8cbd864e2211b597fb69a529160cd040d56c0c210081939")
  }
}
