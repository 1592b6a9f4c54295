import TestSupport
import Testing

@testable import CryptoCore

struct NoncePoolTests {
  @Test func aNonceIsZeroedInThePoolOnceUsed() async {
    await #expect(processExitsWith: .success) {
      for round in 0..<400 {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
          byteCount: round.isMultiple(of: 2) ? 12 : 24, alignment: 1)
        unsafe buffer.initializeMemory(as: UInt8.self, repeating: 0)
        try unsafe NoncePool.fill(buffer.baseAddress!, count: buffer.count)
        // Each search takes its time; some rounds on both sides of a refill will do: 4,032 bytes
        // are 224 nonces of 12 and of 24 in turn.
        guard [0, 1, 222, 223, 224, 225, 398].contains(round) else { continue }
        let nonce = try unsafe Secret(splitting: UnsafeRawBufferPointer(buffer))
        #expect(nonce.copies() == 1, "the nonce that was handed out")
        unsafe Wipe.buffer(buffer)
        #expect(nonce.copies() == 0, "nonce \(round)")
      }
    }
  }

  /// The last of them finds 12 bytes left where it needs 24.
  @Test(arguments: [[12], [24], [12, 24], [24, 24, 12]])
  func noByteIsHandedOutTwice(sizes: [Int]) throws {
    var seen: Set<[UInt8]> = []
    var drawn = 0
    for round in 0..<2000 {
      var nonce = [UInt8](repeating: 0, count: sizes[round % sizes.count])
      try unsafe nonce.withUnsafeMutableBytes {
        try unsafe NoncePool.fill($0.baseAddress!, count: $0.count)
      }
      for start in stride(from: 0, to: nonce.count, by: 4) {
        seen.insert(Array(nonce[start..<start + 4]))
        drawn += 1
      }
    }
    // Four bytes are few enough to coincide by chance: 12,000 of them do so about 0.02 times.
    #expect(seen.count >= drawn - 4)
  }
}
