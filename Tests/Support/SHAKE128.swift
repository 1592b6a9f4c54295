/// SHAKE128, FIPS 202: the stream of inputs and the digest of C2SP's accumulated tests.
///
/// Absorb first, then squeeze; for tests only, since it takes its time and wipes nothing.
package struct SHAKE128: Sendable {
  private static let rate = 168
  private static let roundConstants: [UInt64] = [
    0x0000_0000_0000_0001, 0x0000_0000_0000_8082, 0x8000_0000_0000_808a, 0x8000_0000_8000_8000,
    0x0000_0000_0000_808b, 0x0000_0000_8000_0001, 0x8000_0000_8000_8081, 0x8000_0000_0000_8009,
    0x0000_0000_0000_008a, 0x0000_0000_0000_0088, 0x0000_0000_8000_8009, 0x0000_0000_8000_000a,
    0x0000_0000_8000_808b, 0x8000_0000_0000_008b, 0x8000_0000_0000_8089, 0x8000_0000_0000_8003,
    0x8000_0000_0000_8002, 0x8000_0000_0000_0080, 0x0000_0000_0000_800a, 0x8000_0000_8000_000a,
    0x8000_0000_8000_8081, 0x8000_0000_0000_8080, 0x0000_0000_8000_0001, 0x8000_0000_8000_8008,
  ]
  // In the order in which rho and pi visit the lanes.
  private static let rotations: [UInt64] = [
    1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44,
  ]
  private static let lanes = [
    10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1,
  ]

  private var state = [UInt64](repeating: 0, count: 25)
  private var position = 0
  private var isSqueezing = false

  package init() {}

  /// Takes in further bytes of the message.
  package mutating func absorb(_ bytes: [UInt8]) {
    precondition(!isSqueezing, "the message has ended")
    for byte in bytes {
      add(byte, at: position)
      position += 1
      if position == Self.rate { permute() }
    }
  }

  /// The next `count` bytes of output.
  package mutating func squeeze(_ count: Int) -> [UInt8] {
    if !isSqueezing {
      add(0x1f, at: position)
      add(0x80, at: Self.rate - 1)
      permute()
      isSqueezing = true
    }
    return (0..<count).map { _ in
      if position == Self.rate { permute() }
      defer { position += 1 }
      return UInt8(truncatingIfNeeded: state[position >> 3] >> (UInt64(position & 7) * 8))
    }
  }

  private mutating func add(_ byte: UInt8, at position: Int) {
    state[position >> 3] ^= UInt64(byte) << (UInt64(position & 7) * 8)
  }

  /// Keccak-f[1600].
  private mutating func permute() {
    position = 0
    var state = state
    var columns = [UInt64](repeating: 0, count: 5)
    for constant in Self.roundConstants {
      for x in 0..<5 {
        columns[x] = state[x] ^ state[x &+ 5] ^ state[x &+ 10] ^ state[x &+ 15] ^ state[x &+ 20]
      }
      for x in 0..<5 {
        let next = columns[x == 4 ? 0 : x &+ 1]
        let mix = columns[x == 0 ? 4 : x &- 1] ^ (next &<< 1 | next &>> 63)
        for y in 0..<5 { state[x &+ y &* 5] ^= mix }
      }
      var moving = state[1]
      for step in 0..<24 {
        let lane = Self.lanes[step]
        let rotation = Self.rotations[step]
        let replaced = state[lane]
        state[lane] = moving &<< rotation | moving &>> (64 &- rotation)
        moving = replaced
      }
      for row in 0..<5 {
        for x in 0..<5 { columns[x] = state[row &* 5 &+ x] }
        for x in 0..<5 {
          state[row &* 5 &+ x] =
            columns[x] ^ (~columns[x > 3 ? x &- 4 : x &+ 1] & columns[x > 2 ? x &- 3 : x &+ 2])
        }
      }
      state[0] ^= constant
    }
    self.state = state
  }
}
