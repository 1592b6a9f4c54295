import TestSupport
import Testing

@testable import CryptoCore

/// NIST's Cryptographic Algorithm Validation Program, GCM with 256-bit keys.
///
/// Each of the two files has 7,875 tests: 2,625 with 96-bit nonces, the only ones offered here, and
/// the others with nonces of 8 and 1,024 bits. Six sevenths of them have a tag cut to 32 to 120
/// bits, while this API knows whole tags alone. Nothing is left out for that: the missing end of
/// such a tag is computed, put behind the part that the vector gives, and the whole is handed to
/// `open`, which accepts it if and only if the given part is right.
@Suite(.needs(.cryptography))
struct CAVPGCMTests {
  private static let tested = 2625
  private static let inFile = 7875

  @Test func everyEncryptionWith96BitNoncesHolds() throws {
    let tests = try entries("gcmEncryptExtIV256.rsp")
    var run = 0
    for test in tests {
      run += 1
      let vector = try Vector(test)
      let plaintext = try test.bytes("PT")
      let sealed = try vector.seal(plaintext)
      #expect(sealed.prefix(plaintext.count).elementsEqual(vector.ciphertext))
      #expect(sealed.dropFirst(plaintext.count).starts(with: vector.tag))
      #expect(vector.tag.count * 8 == (try test.number("Taglen")))
      #expect(try vector.open(tag: vector.completedTag(of: plaintext)) == plaintext)
    }
    print("vectors: NIST CAVP AES-256-GCM encrypt: \(run) run, 0 of them refused")
    #expect(run == Self.tested)
  }

  @Test func everyDecryptionWith96BitNoncesHolds() throws {
    let tests = try entries("gcmDecrypt256.rsp")
    var run = 0
    var refused = 0
    for test in tests {
      run += 1
      let vector = try Vector(test)
      // GCM encrypts by XOR with a key stream, so sealing the ciphertext gives the plaintext,
      // for which a FAIL has no field.
      let plaintext = Array(try vector.seal(vector.ciphertext).prefix(vector.ciphertext.count))
      let tag = try vector.completedTag(of: plaintext)
      if test.mustFail {
        #expect(code { _ = try vector.open(tag: tag) } == .authenticationFailed)
        refused += 1
      } else {
        #expect(plaintext == (try test.bytes("PT")))
        #expect(try vector.open(tag: tag) == plaintext)
      }
    }
    print("vectors: NIST CAVP AES-256-GCM decrypt: \(run) run, \(refused) of them refused")
    #expect(run == Self.tested)
    #expect(refused == 1317)
  }

  private func entries(_ file: String) throws -> [ResponseFile.Entry] {
    let entries = try ResponseFile("ciphers/AES/GCM/\(file)", firstField: "Count").entries
    #expect(entries.count == Self.inFile)
    return entries.filter { $0.fields["IVlen"] == "96" }
  }

  private struct Vector {
    let key: AEADKey
    let nonce, ciphertext, associatedData, tag: [UInt8]

    init(_ entry: ResponseFile.Entry) throws {
      key = try AEADKey(bytes: entry.bytes("Key"), algorithm: .aes256GCM)
      nonce = try entry.bytes("IV")
      ciphertext = try entry.bytes("CT")
      associatedData = try entry.bytes("AAD")
      tag = try entry.bytes("Tag")
    }

    func seal(_ plaintext: [UInt8]) throws -> [UInt8] {
      try key.seal(plaintext, nonce: nonce, associatedData: associatedData)
    }

    func open(tag: [UInt8]) throws -> [UInt8] {
      try key.open(ciphertext, tag: tag, nonce: nonce, associatedData: associatedData)
    }

    /// The given tag, made whole with the end of the right one.
    func completedTag(of plaintext: [UInt8]) throws -> [UInt8] {
      tag + (try seal(plaintext).suffix(AEADAlgorithm.tagSize).dropFirst(tag.count))
    }
  }
}
