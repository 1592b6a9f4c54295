import Foundation
import Testing

@testable import CryptoCore

@Suite struct ExitTests {
  /// Handlers of atexit(3) run last to first: OpenSSL's, if it had one, before one that was there
  /// when it was used first.
  @Test func otherThreadsMayGoOnWhileTheProcessEnds() async {
    for _ in 0..<5 {
      await #expect(processExitsWith: .exitCode(7)) {
        atexit { usleep(100_000) }
        let data = try DataKey(SymmetricKey(size: .bits256), id: 1)
        let name = try #require(NameHash([UInt8](repeating: 1, count: NameHash.byteCount)))
        let context = RecordContext(store: try .random(), name: name)
        let secret = try SecureBytes([1, 2, 3])
        for _ in 0..<2 {
          Thread.detachNewThread {
            while true {
              noFailure {
                let salt = [UInt8](repeating: 1, count: 16)
                _ = try KeyDerivation.hkdf(secret, salt: salt, info: [], count: 32)
                _ = try KeyDerivation.pbkdf2(secret, salt: salt, rounds: 1, count: 32)
                let record = try unsafe data.seal([1, 2, 3].span.bytes, for: context)
                _ = try unsafe data.openedData(record.span.bytes, for: context)
                _ = try DataKey(SymmetricKey(size: .bits256), id: 1, algorithm: .xaes256GCM)
              }
            }
          }
        }
        usleep(50_000)
        exit(7)
      }
    }
  }
}

private func noFailure(_ body: () throws -> Void) {
  do { try body() } catch { fatalError("\(error)") }
}
