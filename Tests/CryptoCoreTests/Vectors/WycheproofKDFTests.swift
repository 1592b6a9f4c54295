import CryptoCore
import TestSupport
import Testing

@Suite(.needs(.wycheproof))
struct WycheproofKDFTests {
  @Test(arguments: [
    ("hkdf_sha256_test.json", DerivationHash.sha256, 86, 3),
    ("hkdf_sha512_test.json", .sha512, 83, 3),
  ])
  func everyVectorOfHKDFHolds(
    file: String, hash: DerivationHash, expected: Int, refusals: Int
  ) throws {
    let contents = try WycheproofFile<HKDFGroup>(file)
    var run = 0
    var refused = 0
    for test in contents.testGroups.flatMap(\.tests) {
      run += 1
      func derive() throws -> [UInt8] {
        try KeyDerivation.hkdf(
          SecureBytes(test.ikm.bytes), salt: test.salt.bytes, info: test.info.bytes,
          count: test.size, hash: hash
        ).exposed
      }
      switch test.result {
      case .valid, .acceptable:
        #expect(try derive() == test.okm.bytes, "test \(test.tcId)")
      case .invalid:
        #expect(code { _ = try derive() } == .invalidParameter, "test \(test.tcId)")
        refused += 1
      }
    }
    print("vectors: Wycheproof \(file.prefix(11)): \(run) run, \(refused) of them refused")
    #expect(run == contents.numberOfTests)
    #expect(run == expected)
    #expect(refused == refusals)
  }

  @Test(arguments: [
    ("pbkdf2_hmacsha256_test.json", DerivationHash.sha256, 60),
    ("pbkdf2_hmacsha512_test.json", .sha512, 58),
  ])
  func everyVectorOfPBKDF2Holds(file: String, hash: DerivationHash, expected: Int) throws {
    let contents = try WycheproofFile<PBKDFGroup>(file)
    var run = 0
    for test in contents.testGroups.flatMap(\.tests) {
      run += 1
      let derived = try KeyDerivation.pbkdf2(
        SecureBytes(test.password.bytes), salt: test.salt.bytes, rounds: test.iterationCount,
        count: test.dkLen, hash: hash)
      #expect(test.result == .valid, "the file has no refusals")
      #expect(derived.exposed == test.dk.bytes, "test \(test.tcId)")
    }
    print("vectors: Wycheproof \(file.prefix(17)): \(run) run, 0 of them refused")
    #expect(run == contents.numberOfTests)
    #expect(run == expected)
  }
}
