import CryptoCore
import TestSupport
import Testing

/// Empty secrets and salts are inputs like any other; the answers are those of Python's hashlib.
struct EmptyInputTests {
  @Test(arguments: [
    ("", "", "a422663fda8609a1e2fd53541260edf8"),
    ("pw", "", "51ffa3043a6ff58d37c92e9fad789901"),
    ("", "salt", "cc5eacbb057f2a5982fce67bf70f79fc"),
    ("pw", "salt", "8816cc3aaf71373639c3415049b2b657"),
  ])
  func pbkdf2TakesThem(passphrase: String, salt: String, expected: String) throws {
    let derived = try KeyDerivation.pbkdf2(
      SecureBytes(Array(passphrase.utf8)), salt: Array(salt.utf8), rounds: 2, count: 16)
    #expect(derived.exposed.hex == expected)
  }

  @Test(arguments: [
    ("", "", "77d6576238657b203b19ca42c18a0497"),
    ("pw", "", "9516bec7007e0da1b86ad288c4a3a7b0"),
    ("", "salt", "eec80a460eeaab62fe1630b19497e7ba"),
    ("pw", "salt", "086be1ce38ba574b6133f2c1cfafecb7"),
  ])
  func scryptTakesThem(passphrase: String, salt: String, expected: String) throws {
    let derived = try KeyDerivation.scrypt(
      SecureBytes(Array(passphrase.utf8)), salt: Array(salt.utf8), cost: 16, blockSize: 1,
      parallelism: 1, count: 16)
    #expect(derived.exposed.hex == expected)
  }

  @Test func hkdfTakesAnEmptyInput() throws {
    let long = try KeyDerivation.hkdf(SecureBytes([]), salt: [], info: [], count: 16)
    #expect(long.exposed.hex == "9d73c98e791e80ebe5b4cb45693aa32f")
    let short = try KeyDerivation.hkdf(
      SecureBytes([]), salt: [], info: [], count: 16, hash: .sha256)
    #expect(short.exposed.hex == "eb70f01dede9afafa449eee1b1286504")
  }

  @Test func anEmptyMessageAndAnEmptyKeyAreHashed() throws {
    let hash = try KeyedHash(SymmetricKey(data: [])).hash([])
    // Python: hmac.new(b"", b"", "sha512")
    #expect(
      hash.hex
        == "b936cee86c9f87aa5d3c6f2e84cb5a4239a5fe50480a6ec66b70ab5b1f4ac673"
        + "0c6c515421b327ec1d69402e53dfb49ad7381eb067b338fd7b0cb22247225d47")
  }
}
