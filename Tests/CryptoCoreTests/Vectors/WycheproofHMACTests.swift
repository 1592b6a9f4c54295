import CryptoCore
import TestSupport
import Testing

@Suite(.needs(.wycheproof))
struct WycheproofHMACTests {
  @Test func everyVectorHolds() throws {
    let contents = try WycheproofFile<MACGroup>("hmac_sha512_test.json")
    var run = 0
    var refused = 0
    for group in contents.testGroups {
      for test in group.tests {
        run += 1
        let hash = try KeyedHash(SymmetricKey(data: test.key.bytes)).hash(test.msg.bytes)
        // The hash is never cut here; a vector with a short tag is compared with its beginning.
        let matches = hash.prefix(group.tagSize / 8).elementsEqual(test.tag.bytes)
        #expect(matches == (test.result == .valid), "test \(test.tcId)")
        if !matches { refused += 1 }
      }
    }
    print("vectors: Wycheproof HMAC-SHA-512: \(run) run, \(refused) of them refused")
    #expect(run == contents.numberOfTests)
    #expect(run == 174)
    #expect(refused == 108)
  }
}
