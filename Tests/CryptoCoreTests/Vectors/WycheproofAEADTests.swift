import TestSupport
import Testing

@testable import CryptoCore

@Suite(.needs(.wycheproof))
struct WycheproofAEADTests {
  @Test(arguments: [
    ("aes_gcm_test.json", AEADAlgorithm.aes256GCM, 316, 66, 27),
    ("chacha20_poly1305_test.json", .chaCha20Poly1305, 325, 316, 60),
  ])
  func everyVectorOfOurSizesHolds(
    file: String, algorithm: AEADAlgorithm, total: Int, expected: Int, refusals: Int
  ) throws {
    let contents = try WycheproofFile<AEADGroup>(file)
    #expect(contents.numberOfTests == total)
    #expect(contents.testGroups.reduce(0) { $0 + $1.tests.count } == total)

    // Other key and nonce sizes can't be asked for through this API.
    let groups = contents.testGroups.filter {
      $0.keySize == 256 && $0.ivSize == 96 && $0.tagSize == 128
    }
    var run = 0
    var refused = 0
    for test in groups.flatMap(\.tests) {
      run += 1
      if try check(test, algorithm) { refused += 1 }
    }
    print("vectors: Wycheproof \(algorithm): \(run) run, \(refused) of them refused")
    #expect(run == expected)
    #expect(refused == refusals)
  }

  /// Seals and opens one vector, and tells whether it had to be refused, and was.
  private func check(_ test: AEADGroup.Test, _ algorithm: AEADAlgorithm) throws -> Bool {
    let key = try AEADKey(bytes: test.key.bytes, algorithm: algorithm)
    let sealed = try key.seal(
      test.msg.bytes, nonce: test.iv.bytes, associatedData: test.aad.bytes)
    func open() throws(CryptoError) -> [UInt8] {
      try key.open(
        test.ct.bytes, tag: test.tag.bytes, nonce: test.iv.bytes, associatedData: test.aad.bytes)
    }
    switch test.result {
    case .valid, .acceptable:
      #expect(sealed == test.ct.bytes + test.tag.bytes, "test \(test.tcId)")
      #expect(try open() == test.msg.bytes, "test \(test.tcId)")
      return false
    case .invalid:
      #expect(sealed != test.ct.bytes + test.tag.bytes, "test \(test.tcId)")
      let answer = code { _ = try open() }
      #expect(answer == .authenticationFailed, "test \(test.tcId)")
      return answer == .authenticationFailed
    }
  }
}
