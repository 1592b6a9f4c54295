internal import CryptoCore

/// A name as the key of a dictionary.
///
/// The standard hasher takes as long for 64 bytes as the rest of a look-up, which `make bench`
/// shows in every read. Names also come from files, where an attacker may have chosen colliding
/// ones. So all words of a name count, each mixed with a secret of this process.
/// https://github.com/wangyi-fudan/wyhash
struct NameKey: Hashable {
  let name: NameHash

  private static let secret = InlineArray<8, UInt64> { _ in .random(in: 0...UInt64.max) }

  @inline(__always)
  init(_ name: NameHash) { self.name = name }

  func hash(into hasher: inout Hasher) { hasher.combine(name) }

  // Hashable's own way to bypass the hasher. The seed differs between dictionaries. Mixing it in
  // keeps a dictionary fast when it is filled in the order of another one.
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
