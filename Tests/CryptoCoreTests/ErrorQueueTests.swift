import TestSupport
import Testing

@testable import CryptoCore

/// OpenSSL's queue of errors: what one failure leaves there would be blamed on the next.
///
/// Each thread has its own. Each test empties it first, and stays on its thread.
struct ErrorQueueTests {
  @Test(arguments: AEADAlgorithm.all)
  func aRefusalLeavesTheQueueEmpty(_ algorithm: AEADAlgorithm) throws {
    OpenSSLErrorQueue.clear()
    let fixture = try Fixture(algorithm)
    let record = try fixture.key.seal([1, 2, 3], for: fixture.context)
    #expect(OpenSSLErrorQueue.isEmpty, "after sealing")
    for position in record.indices {
      var damaged = record
      damaged[position] ^= 1
      #expect(code { _ = try fixture.key.open(damaged, for: fixture.context) } != nil)
      #expect(OpenSSLErrorQueue.isEmpty, "after refusing byte \(position)")
    }
    #expect(try fixture.key.open(record, for: fixture.context) == [1, 2, 3])
    #expect(OpenSSLErrorQueue.isEmpty, "after opening")
  }

  @Test func anErrorListsAllThatWasQueuedOldestFirst() {
    OpenSSLErrorQueue.clear()
    let numbers = (0..<3).map { _ in OpenSSLErrorQueue.push() }
    #expect(!OpenSSLErrorQueue.isEmpty)
    let error = CryptoError(library: "EVP_Something")
    #expect(error.openSSLErrors == numbers)
    #expect(error.code == .library)
    #expect(error.message == "EVP_Something: unsupported; unsupported; unsupported")
    #expect(OpenSSLErrorQueue.isEmpty)
  }

  @Test func aFailureOfOpenSSLCarriesItsNumbers() throws {
    OpenSSLErrorQueue.clear()
    // HKDF without a hash function.
    let error = #expect(throws: CryptoError.self) {
      var parameters = KDFParameters()
      parameters.add("pass", secret: try SecureBytes([1]))
      _ = try parameters.derive("HKDF", count: 32)
    }
    #expect(error?.code == .library)
    #expect(error?.openSSLErrors.isEmpty == false)
    #expect(error?.message.contains("EVP_KDF_derive of HKDF: ") == true)
    #expect(OpenSSLErrorQueue.isEmpty)
  }

  @Test func errorsOfOurOwnDoNotTouchTheQueue() throws {
    OpenSSLErrorQueue.clear()
    // An application's own entries are the application's.
    let number = OpenSSLErrorQueue.push()
    let answer = code {
      _ = try KeyDerivation.hkdf(SecureBytes([1]), salt: [], info: [], count: 0)
    }
    #expect(answer == .invalidParameter)
    #expect(OpenSSLErrorQueue.newest == number)
    OpenSSLErrorQueue.clear()
  }

  @Test func whetherArgon2idIsThereLeavesTheQueueEmpty() async {
    // Asked once in a process, so in one of its own.
    await #expect(processExitsWith: .success) {
      _ = KeyDerivation.isArgon2idAvailable
      #expect(OpenSSLErrorQueue.isEmpty)
    }
  }
}
