import CryptoCore
import TestSupport
import Testing

@Suite(.needs(.cryptography))
struct RFCVectorTests {
  @Test func everyHMACOfRFC4231Holds() throws {
    let file = try ResponseFile("HMAC/rfc-4231-sha512.txt", firstField: "Len")
    for test in file.entries {
      let hash = try KeyedHash(SymmetricKey(data: test.bytes("Key"))).hash(test.bytes("Msg"))
      #expect(hash == (try test.bytes("MD")))
    }
    print("vectors: RFC 4231 HMAC-SHA-512: \(file.entries.count) run, 0 of them refused")
    #expect(file.entries.count == 6)
  }

  @Test(arguments: [("rfc-5869-HKDF-SHA256", "RFC 5869", 3), ("hkdf-generated", "pyca", 1)])
  func everyHKDFHolds(file: String, source: String, expected: Int) throws {
    let tests = try ResponseFile("KDF/\(file).txt", firstField: "COUNT").entries
    for test in tests {
      #expect(test.fields["Hash"] == "SHA-256")
      let derived = try KeyDerivation.hkdf(
        SecureBytes(test.bytes("IKM")), salt: test.bytes("salt"), info: test.bytes("info"),
        count: test.number("L"), hash: .sha256)
      #expect(derived.exposed == (try test.bytes("OKM")))
    }
    print("vectors: \(source) HKDF-SHA-256: \(tests.count) run, 0 of them refused")
    #expect(tests.count == expected)
  }

  /// RFC 7914, section 12; the last one takes 1 GiB and some seconds.
  @Test func everyScryptOfRFC7914Holds() throws {
    let tests = try ResponseFile("KDF/scrypt.txt", firstField: "COUNT").entries
    for test in tests {
      let derived = try KeyDerivation.scrypt(
        SecureBytes(Array(test.text("PASSWORD").utf8)), salt: Array(test.text("SALT").utf8),
        cost: test.number("N"), blockSize: test.number("r"), parallelism: test.number("p"),
        count: test.number("LENGTH"), maximumMemory: 1_288_490_188)  // 1.2 GiB
      #expect(derived.exposed == (try test.bytes("DERIVED_KEY")))
    }
    print("vectors: RFC 7914 scrypt: \(tests.count) run, 0 of them refused")
    #expect(tests.count == 4)
  }
}
