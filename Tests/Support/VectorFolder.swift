package import Foundation

/// A folder of published test vectors, which an environment variable names.
///
/// The vectors are not part of this repository. Where the variable is missing, a user's run skips
/// the tests that need it, and a run under `CI=true` fails them.
package struct VectorFolder: Sendable {
  /// The environment variable.
  package let variable: String
  /// How to get the vectors.
  package let instructions: String

  /// Project Wycheproof, https://github.com/C2SP/wycheproof.
  package static let wycheproof = VectorFolder(
    variable: "SPS_WYCHEPROOF_VECTORS",
    instructions: "the folder testvectors_v1 of https://github.com/C2SP/wycheproof")

  /// NIST CAVP, RFC 4231, RFC 5869, scrypt, Argon2: PyPI's package cryptography-vectors.
  package static let cryptography = VectorFolder(
    variable: "SPS_CRYPTOGRAPHY_VECTORS",
    instructions: "`pip download --no-deps cryptography-vectors`, unzip the wheel, and give the "
      + "folder cryptography_vectors in it")

  /// What to print where the folder is missing.
  package var hint: String { "set \(variable) to \(instructions)" }

  private var path: String? {
    let value = ProcessInfo.processInfo.environment[variable]
    return value?.isEmpty == true ? nil : value
  }

  /// Whether tests that need the folder should run: it is there, or its absence is a failure.
  package var shouldRun: Bool {
    path != nil || ProcessInfo.processInfo.environment["CI"] == "true"
  }

  /// The contents of a file in the folder.
  package func contents(of file: String) throws -> Data {
    guard let path else { throw MissingFolder(description: hint) }
    return try Data(contentsOf: URL(fileURLWithPath: path).appendingPathComponent(file))
  }

  /// The failure of a run that must not skip.
  private struct MissingFolder: Error, CustomStringConvertible {
    let description: String
  }
}
