private import Foundation

/// A file of Project Wycheproof; each schema has its own type of group.
package struct WycheproofFile<Group: Decodable & Sendable>: Decodable, Sendable {
  /// How many tests the file says it has.
  package let numberOfTests: Int
  /// The groups; the tests of one share their sizes.
  package let testGroups: [Group]

  /// Reads a file from the folder that the environment names.
  package init(_ file: String) throws {
    let data = try VectorFolder.wycheproof.contents(of: file)
    self = try JSONDecoder().decode(Self.self, from: data)
  }
}

/// What a test of Project Wycheproof expects.
package enum WycheproofResult: String, Decodable, Sendable {
  case valid, invalid, acceptable
}

/// A group of aead_test_schema_v1.json.
package struct AEADGroup: Decodable, Sendable {
  package let ivSize, keySize, tagSize: Int
  package let tests: [Test]

  package struct Test: Decodable, Sendable {
    package let tcId: Int
    package let key, iv, aad, msg, ct, tag: HexBytes
    package let result: WycheproofResult
  }
}

/// A group of mac_test_schema_v1.json.
package struct MACGroup: Decodable, Sendable {
  package let keySize, tagSize: Int
  package let tests: [Test]

  package struct Test: Decodable, Sendable {
    package let tcId: Int
    package let key, msg, tag: HexBytes
    package let result: WycheproofResult
  }
}

/// A group of hkdf_test_schema_v1.json.
package struct HKDFGroup: Decodable, Sendable {
  package let tests: [Test]

  package struct Test: Decodable, Sendable {
    package let tcId: Int
    package let ikm, salt, info, okm: HexBytes
    package let size: Int
    package let result: WycheproofResult
  }
}

/// A group of pbkdf_test_schema.json.
package struct PBKDFGroup: Decodable, Sendable {
  package let tests: [Test]

  package struct Test: Decodable, Sendable {
    package let tcId: Int
    package let password, salt, dk: HexBytes
    package let iterationCount, dkLen: Int
    package let result: WycheproofResult
  }
}
