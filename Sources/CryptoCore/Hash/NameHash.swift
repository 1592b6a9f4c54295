/// The 64-byte keyed hash under which a store keeps a record: HMAC-SHA-512 of its key name.
public struct NameHash: Hashable, Sendable {
  /// The number of bytes of a hash.
  public static let byteCount = 64

  /// The 64 bytes as eight words, in this machine's order.
  ///
  /// Not SIMD8: objects and arrays that hold a SIMD8 are aligned to 64 bytes, which costs a slower
  /// allocator and up to 63 bytes for each.
  @usableFromInline package let words: InlineArray<8, UInt64>

  /// The first eight bytes, in this machine's order.
  package var firstWord: UInt64 { words[0] }

  /// Makes a hash of 64 given bytes; nil for another number of bytes.
  public init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    var words = InlineArray<8, UInt64>(repeating: 0)
    unsafe withUnsafeMutableBytes(of: &words) { unsafe $0.copyBytes(from: bytes) }
    self.words = words
  }

  /// The 64 bytes.
  public var bytes: [UInt8] {
    unsafe withUnsafeBytes(of: words) { unsafe [UInt8]($0) }
  }

  /// Lower-case hexadecimal, 128 digits.
  public var hexadecimal: String { Hexadecimal.encode(bytes) }

  /// Makes a hash of 128 hexadecimal digits, lower case only; nil for any other text.
  public init?(hexadecimal: some StringProtocol) {
    guard let bytes = Hexadecimal.decode(hexadecimal) else { return nil }
    self.init(bytes)
  }

  /// Compares all bytes, without a branch for each word, because every look-up compares hashes.
  @inlinable @inline(__always)
  public static func == (left: NameHash, right: NameHash) -> Bool {
    // Not a loop: a loop is not unrolled and checks each index, which takes three times the
    // instructions.
    @inline(__always) func difference(_ index: Int) -> UInt64 {
      left.words[index] ^ right.words[index]
    }
    let first = difference(0) | difference(1) | difference(2) | difference(3)
    let second = difference(4) | difference(5) | difference(6) | difference(7)
    return first | second == 0
  }

  /// Feeds all bytes: names from a file need not be uniform, and may be chosen to collide.
  public func hash(into hasher: inout Hasher) {
    unsafe withUnsafeBytes(of: words) { unsafe hasher.combine(bytes: $0) }
  }
}

/// Hexadecimal text with a table, because `String(format:)` costs half a microsecond for each byte.
package enum Hexadecimal {
  /// The lower-case digits of bytes.
  package static func encode(_ bytes: some Collection<UInt8>) -> String {
    let digits: StaticString = "0123456789abcdef"
    return unsafe String(unsafeUninitializedCapacity: bytes.count * 2) { output in
      var index = 0
      for byte in bytes {
        unsafe output[index] = digits.utf8Start[Int(byte >> 4)]
        unsafe output[index + 1] = digits.utf8Start[Int(byte & 15)]
        index += 2
      }
      return index
    }
  }

  /// The bytes of lower-case digits; nil for any other text, since there is one legal form.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count / 2)
    var high: UInt8?
    for character in text.utf8 {
      let digit: UInt8
      switch character {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
      default: return nil
      }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    return high == nil ? bytes : nil
  }
}
