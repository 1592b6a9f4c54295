import TestSupport
import Testing

@testable import CryptoCore

/// NIST's Cryptographic Algorithm Validation Program, SHA-512 over whole bytes.
@Suite(.needs(.cryptography))
struct CAVPSHA512Tests {
  @Test(arguments: [("Short", 129), ("Long", 128)])
  func everyMessageHashesAsPublished(length: String, expected: Int) throws {
    let file = try ResponseFile("hashes/SHA2/SHA512\(length)Msg.rsp", firstField: "Len")
    for test in file.entries {
      // `Msg = 00` stands for no message at all where the length is 0.
      let message = try test.bytes("Msg").prefix(test.number("Len") / 8)
      #expect(try hash(Array(message)) == test.bytes("MD"))
    }
    print("vectors: NIST CAVP SHA-512 \(length)Msg: \(file.entries.count) run, 0 of them refused")
    #expect(file.entries.count == expected)
  }

  /// SHAVS, section 6.4: each of the 100 checkpoints is a thousand hashes of the last three.
  @Test func theMonteCarloTestReachesEveryCheckpoint() throws {
    let file = try ResponseFile("hashes/SHA2/SHA512Monte.rsp", firstField: "COUNT")
    var seed = try file.preamble.bytes("Seed")
    for test in file.entries {
      var last = [seed, seed, seed]
      for _ in 0..<1000 { last = [last[1], last[2], try hash(last[0] + last[1] + last[2])] }
      seed = last[2]
      #expect(seed == (try test.bytes("MD")))
    }
    print("vectors: NIST CAVP SHA-512 Monte: \(file.entries.count) run, 0 of them refused")
    #expect(file.entries.count == 100)
  }

  private func hash(_ message: [UInt8]) throws -> [UInt8] {
    let context = try DigestContext()
    try context.start()
    try unsafe context.update(message.span.bytes)
    var digest = [UInt8](repeating: 0, count: 64)
    try unsafe digest.withUnsafeMutableBytes { try unsafe context.finish(into: $0.baseAddress!) }
    return digest
  }
}
