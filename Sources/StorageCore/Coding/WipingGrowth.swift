internal import CryptoCore

// Use these functions to append plaintext. An array that grows moves to a larger buffer, and frees
// the old buffer with the plaintext in it.

extension [UInt8] {
  /// Makes room for more bytes, and wipes the old buffer if the array moves.
  @inline(__always)
  mutating func makeRoom(for count: Int) {
    if capacity - self.count < count { grow(by: count) }
  }

  @inline(never)
  private mutating func grow(by count: Int) {
    var old: [UInt8] = []
    old.reserveCapacity(Swift.max(2 * capacity, self.count + count))
    old.append(contentsOf: self)
    swap(&old, &self)
    Wipe.bytes(&old)
  }

  /// Appends a byte of plaintext.
  @inline(__always)
  mutating func appendWiping(_ byte: UInt8) {
    makeRoom(for: 1)
    append(byte)
  }

  /// Appends plaintext.
  @inline(__always)
  mutating func appendWiping(contentsOf bytes: some Collection<UInt8>) {
    makeRoom(for: bytes.count)
    append(contentsOf: bytes)
  }

  /// Appends an integer of plaintext, most significant byte first.
  @inline(__always)
  mutating func appendWiping<Value: FixedWidthInteger>(bigEndian value: Value) {
    makeRoom(for: MemoryLayout<Value>.size)
    append(bigEndian: value)
  }
}
