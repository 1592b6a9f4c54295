import CryptoCore
import TestSupport
import Testing

struct Argon2idTests {
  /// RFC 9106, section 5.3: runs where OpenSSL is 3.2 or newer, else checks the refusal.
  @Test func theKnownAnswerOfRFC9106HoldsWhereOffered() throws {
    func derive() throws -> [UInt8] {
      try KeyDerivation.argon2id(
        SecureBytes([UInt8](repeating: 1, count: 32)), salt: [UInt8](repeating: 2, count: 16),
        memory: 32, passes: 3, lanes: 4, count: 32,
        secret: SecureBytes([UInt8](repeating: 3, count: 8)),
        associatedData: [UInt8](repeating: 4, count: 12)
      ).exposed
    }
    guard KeyDerivation.isArgon2idAvailable else {
      print("vectors: RFC 9106 Argon2id: 0 run, since this OpenSSL is older than 3.2")
      #expect(code { _ = try derive() } == .unsupported)
      return
    }
    print("vectors: RFC 9106 Argon2id: 1 run, 0 of them refused")
    #expect(
      try derive().hex == "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659")
  }

  @Test(.needs(.cryptography)) func everyPublishedVectorHoldsWhereOffered() throws {
    let tests = try ResponseFile("KDF/argon2id.txt", firstField: "COUNT").entries
    #expect(tests.count == 6)
    for test in tests {
      func derive() throws -> [UInt8] {
        try KeyDerivation.argon2id(
          SecureBytes(test.bytes("pass")), salt: test.bytes("salt"),
          memory: test.number("memcost"), passes: test.number("iter"),
          lanes: test.number("lanes"), count: test.number("length"),
          secret: test.fields["secret"] == nil ? nil : SecureBytes(test.bytes("secret")),
          associatedData: test.fields["ad"] == nil ? [] : test.bytes("ad")
        ).exposed
      }
      if KeyDerivation.isArgon2idAvailable {
        #expect(try derive() == test.bytes("output"))
      } else {
        #expect(code { _ = try derive() } == .unsupported)
      }
    }
    let run = KeyDerivation.isArgon2idAvailable ? tests.count : 0
    print("vectors: published Argon2id: \(run) of \(tests.count) run")
  }
}
