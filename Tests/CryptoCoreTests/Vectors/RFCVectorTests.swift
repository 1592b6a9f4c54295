import CryptoCore
import TestSupport
import Testing

@Suite(.needs(.cryptography))
struct RFCVectorTests {
  /// RFC 7914, section 12; the last one takes 1 GiB and some seconds, and is for the night.
  @Test func everyScryptOfRFC7914Holds() throws {
    let tests = try ResponseFile("KDF/scrypt.txt", firstField: "COUNT").entries
    #expect(tests.count == 4)
    let tried = tests.prefix(Depth.count(4, day: 3))
    for test in tried {
      let derived = try KeyDerivation.scrypt(
        SecureBytes(Array(test.text("PASSWORD").utf8)), salt: Array(test.text("SALT").utf8),
        cost: test.number("N"), blockSize: test.number("r"), parallelism: test.number("p"),
        count: test.number("LENGTH"), maximumMemory: 1_288_490_188)  // 1.2 GiB
      #expect(derived.exposed == (try test.bytes("DERIVED_KEY")))
    }
    print("vectors: RFC 7914 scrypt: \(tried.count) run, 0 of them refused")
  }
}
