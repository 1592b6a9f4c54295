internal import CryptoCore

/// A name as the key of a dictionary.
///
/// The standard hasher takes as long over 64 bytes as the rest of a look-up: `make bench` shows it in
/// every read. Names come from files too, where somebody may have picked them to collide, so all of
/// their words count, each mixed with a secret of this process. https://github.com/wangyi-fudan/wyhash
struct NameKey: Hashable {
  let name: NameHash

  private static let secret = InlineArray<8, UInt64> { _ in .random(in: 0...UInt64.max) }

  @inline(__always)
  init(_ name: NameHash) { self.name = name }

  func hash(into hasher: inout Hasher) { hasher.combine(name) }

  // Hashable's own way past the hasher. The seed differs from dictionary to dictionary, and is mixed
  // in so that one can be filled in the order of another.
  @inline(__always)
  func _rawHashValue(seed: Int) -> Int {
    let secret = Self.secret
    func word(_ index: Int) -> UInt64 { name.words[index] ^ secret[index] }
    let first = Self.mix(word(0), word(1)) ^ Self.mix(word(2), word(3))
    let second = Self.mix(word(4), word(5)) ^ Self.mix(word(6), word(7))
    let seed = UInt64(bitPattern: Int64(seed))
    return Int(truncatingIfNeeded: Self.mix(first ^ seed, second ^ 0x9E37_79B9_7F4A_7C15))
  }

  /// Both halves of the product.
  @inline(__always)
  private static func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let (high, low) = left.multipliedFullWidth(by: right)
    return high ^ low
  }
}
