import CryptoCore
import TestSupport

/// Seals on threads, in forked children and in their children, keeping every nonce.
///
/// Half of the threads seal with 12-byte nonces and half with 24-byte ones, which come from the
/// same pool; a nonce of 24 bytes counts as two of 12.
struct NonceRun {
  var threads = 8
  var sealsPerThread: Int
  var children: Int
  var sealsPerChild: Int

  /// What a run found.
  struct Result {
    var nonces: [UInt128] = []
    var outcomes: [ForkedChild.Outcome: Int] = [:]

    /// How many nonces were there before.
    var repeated: Int {
      let sorted = nonces.sorted()
      return zip(sorted, sorted.dropFirst()).count { $0 == $1 }
    }
    var zeroes: Int { nonces.count { $0 == 0 } }
  }

  /// Runs; call it where no other test shares the process.
  func run() throws -> Result {
    let short = try Fixture(.aes256GCM)
    let long = try Fixture(.xaes256GCM)
    let collected = Lock<[UInt128]>([])
    // What a child uses has to be there before it.
    _ = try nonces(of: short, count: 1) + nonces(of: long, count: 1)
    ForkedChild.prepare()
    var result = Result()
    let fork = {
      for _ in 0..<children {
        let (outcome, output) = ForkedChild.run(deadline: 120) { child(short, $0) }
        result.outcomes[outcome, default: 0] += 1
        result.nonces += Self.decode(output)
      }
    }
    Threads.run(threads, meanwhile: fork) { index in
      let found = try? nonces(of: index.isMultiple(of: 2) ? short : long, count: sealsPerThread)
      collected.withLock { $0 += found ?? [] }
    }
    result.nonces += collected.withLock { $0 }
    return result
  }

  /// Half of the seals, then as many in a child of its own.
  private func child(_ fixture: Fixture, _ descriptor: Int32) -> Int32 {
    guard send(fixture, to: descriptor) else { return 1 }
    let (outcome, _) = ForkedChild.run(deadline: 120) { _ in send(fixture, to: descriptor) ? 0 : 1 }
    return outcome == .exited(0) ? 0 : 2
  }

  private func send(_ fixture: Fixture, to descriptor: Int32) -> Bool {
    guard let found = try? nonces(of: fixture, count: sealsPerChild / 2) else { return false }
    return unsafe found.withUnsafeBytes { unsafe ForkedChild.write($0, to: descriptor) }
  }

  private static func decode(_ bytes: [UInt8]) -> [UInt128] {
    unsafe bytes.withUnsafeBytes { bytes in
      stride(from: 0, to: bytes.count, by: 16).map {
        unsafe bytes.loadUnaligned(fromByteOffset: $0, as: UInt128.self)
      }
    }
  }

  private func nonces(of fixture: Fixture, count: Int) throws(CryptoError) -> [UInt128] {
    let size = fixture.key.algorithm.nonceSize
    var record = [UInt8](repeating: 0, count: DataKey.overhead(of: fixture.key.algorithm))
    var found: [UInt128] = []
    found.reserveCapacity(count * size / 12)
    for _ in 0..<count {
      try fixture.key.seal([], for: fixture.context, into: &record)
      for start in stride(from: 6, to: 6 + size, by: 12) {
        var nonce: UInt128 = 0
        for offset in start..<start + 12 { nonce = nonce << 8 | UInt128(record[offset]) }
        found.append(nonce)
      }
    }
    return found
  }
}
