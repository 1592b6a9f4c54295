import CryptoCore
import Foundation
import TestSupport
import Testing

/// No way of showing a value in Swift gives away a byte of the key in it.
struct DisclosureTests {
  /// Printable, so that it is found as text too.
  private static let marker = Array("pQ7~vZ3!kW9@xT5#mR2$hN8%bL4^cJ6&".utf8)

  private let key = SymmetricKey(data: Self.marker)

  @Test func keysShowTheirSizeAlone() {
    expectNothing(in: key.bytes)
    expectNothing(in: key)
    expectNothing(in: [key])
    expectNothing(in: ["key": key])
    expectNothing(in: Optional(key) as Any)
    #expect("\(key)" == "SymmetricKey(256 bits)")
    #expect(String(reflecting: key) == "SymmetricKey(256 bits)")
    #expect("\(key.bytes)" == "SecureBytes(32 bytes)")
    #expect(String(reflecting: key.bytes) == "SecureBytes(32 bytes)")
  }

  @Test func errorsShowNoByteOfKeyPlaintextOrPassphrase() throws {
    let fixture = try Fixture()
    let passphrase = key.bytes
    let record = try fixture.key.seal(Self.marker, for: fixture.context)
    let failures: [() throws -> Void] = [
      { _ = try fixture.key.open(record + [0], for: fixture.context) },
      { _ = try fixture.key.open(Self.marker, for: fixture.context) },
      { _ = try DataKey(SymmetricKey(data: Self.marker + [0]), id: 7) },
      {
        var output: [UInt8] = []
        try fixture.key.seal(Self.marker, for: fixture.context, into: &output)
      },
      { _ = try KeyDerivation.hkdf(passphrase, salt: [], info: [], count: 0) },
      { _ = try KeyDerivation.pbkdf2(passphrase, salt: [], rounds: 0, count: 32) },
      {
        _ = try KeyDerivation.scrypt(
          passphrase, salt: [], cost: 3, blockSize: 8, parallelism: 1, count: 32)
      },
      {
        _ = try KeyDerivation.scrypt(
          passphrase, salt: [], cost: 1 << 30, blockSize: 8, parallelism: 1, count: 32)
      },
      {
        _ = try KeyDerivation.argon2id(
          passphrase, salt: [], memory: 64, passes: 1, lanes: 1, count: 32)
      },
    ]
    for (index, failure) in failures.enumerated() {
      let error = #expect(throws: CryptoError.self, "failure \(index)") { try failure() }
      let shown = try #require(error)
      expectNothing(in: shown)
      expectNothing(in: shown.localizedDescription)
      expectNothing(in: shown as NSError)
    }
  }

  /// A search that finds nothing anywhere would pass every test above.
  @Test func theSearchFindsWhatIsThere() {
    struct Leak { var bytes = DisclosureTests.marker }
    struct Outer { var inner = Leak() }
    let text = String(decoding: Self.marker, as: UTF8.self)
    let leaks: [Any] = [
      Leak(), Outer(), text, Self.marker.hex, "<" + Self.marker.hex.uppercased() + ">",
      Data(Self.marker).base64EncodedString(), Data([0] + Self.marker).base64EncodedString(),
      Data([0, 0] + Self.marker).base64EncodedString(), Self.marker.map { Int($0) },
      CryptoErrorLike(message: "bad passphrase \(text.prefix(5))"),
      Self.marker.map { "0x" + [$0].hex }.joined(separator: ", "),
    ]
    for leak in leaks {
      #expect(!Disclosure.forms(of: Self.marker, in: leak).isEmpty, "\(leak)")
    }
  }

  private struct CryptoErrorLike: Error { let message: String }

  private func expectNothing(
    in value: Any, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let forms = Disclosure.forms(of: Self.marker, in: value)
    #expect(forms.isEmpty, "\(type(of: value))", sourceLocation: sourceLocation)
  }
}
