/// Inputs beside one that libFuzzer has made: the same with a byte changed, a bit flipped, or cut.
///
/// libFuzzer looks at all counters of the program after each call, which takes longer than most
/// readers need. So a call tries a handful of inputs, and libFuzzer keeps what it has made if any
/// of them reaches new code. They follow from the bytes, so that a finding is found again.
struct Neighbours: Sequence, IteratorProtocol {
  private let input: [UInt8]
  private var left = 7
  private var generator: Generator

  init(of input: [UInt8]) {
    self.input = input
    generator = Generator(UInt64(fingerprint(of: input)) << 32 | UInt64(input.count))
  }

  mutating func next() -> [UInt8]? {
    guard left > 0, !input.isEmpty else { return nil }
    left -= 1
    return generator.change(input, left)
  }

  /// xorshift64*, https://www.jstatsoft.org/article/view/v008i14: enough to pick a byte.
  struct Generator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed | 1 }

    mutating func next(below bound: Int) -> Int {
      state ^= state >> 12
      state ^= state << 25
      state ^= state >> 27
      return Int((state &* 0x2545_F491_4F6C_DD1D) >> 33) % bound
    }

    /// The bytes, which are not empty, after a change of one of seven kinds.
    mutating func change(_ input: [UInt8], _ kind: Int) -> [UInt8] {
      var bytes = input
      let place = next(below: bytes.count)
      switch kind {
      case 0: bytes.removeSubrange(place...)
      case 1...3: bytes[place] ^= 1 << UInt8(next(below: 8))
      default: bytes[place] = UInt8(next(below: 256))
      }
      return bytes
    }
  }
}

/// Whether an input is one of those, one in `share`, that are tried in a way that takes long.
///
/// It follows from the bytes, so that a finding is found again.
func isPicked(_ input: [UInt8], oneIn share: UInt32) -> Bool {
  (fingerprint(of: input) >> 8) % share == 0
}

/// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv: nobody means to make two inputs collide.
private func fingerprint(of input: [UInt8]) -> UInt32 {
  var hash: UInt32 = 2_166_136_261
  for byte in input { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
  return hash
}
