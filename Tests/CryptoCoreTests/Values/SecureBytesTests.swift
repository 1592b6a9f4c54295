import CryptoCore
import Testing

struct SecureBytesTests {
  @Test(arguments: [0, 1, 63, 64, 65, 4096, 10_000])
  func theBytesAreThoseGiven(count: Int) throws {
    let source = try randomBytes(count)
    let bytes = try SecureBytes(source)
    #expect(bytes.count == count)
    #expect(bytes.exposed == source)
    #expect(try unsafe SecureBytes(copying: source.span.bytes) == bytes)
  }

  @Test(arguments: [1, 64, 65, 10_000])
  func freshBytesAreZeroUntilFilled(count: Int) throws {
    // A used slot first, so that there is something to be left over.
    _ = try SecureBytes([UInt8](repeating: 0xff, count: count))
    let bytes = try SecureBytes(count: count) { _ in }
    #expect(bytes.exposed == [UInt8](repeating: 0, count: count))
  }

  @Test func equalityComparesEveryByteAndTheCount() throws {
    let source = try randomBytes(40)
    let bytes = try SecureBytes(source)
    #expect(try bytes == SecureBytes(source))
    for position in source.indices {
      var other = source
      other[position] ^= 0x10
      #expect(try bytes != SecureBytes(other))
    }
    #expect(try bytes != SecureBytes(source.dropLast()))
    #expect(try bytes != SecureBytes(source + [0]))
    #expect(try SecureBytes([]) == SecureBytes([]))
    #expect(try SecureBytes([]) != SecureBytes([0]))
  }

  @Test(arguments: [1, 32, 255, 256, 257, 1000, 70_000])
  func randomBytesAreFilledToTheEnd(count: Int) throws {
    // The last byte of 64 draws is not always zero, or chance is one in 2^512.
    let draws = try (0..<64).map { _ in try SecureBytes.random(count: count).exposed }
    #expect(draws.contains { $0.last != 0 })
    #expect(draws.contains { $0.first != 0 })
    #expect(count < 16 || Set(draws).count == 64)
  }

  @Test func aWipedArrayIsZero() throws {
    var bytes = try randomBytes(100)
    Wipe.bytes(&bytes)
    #expect(bytes == [UInt8](repeating: 0, count: 100))
    var none: [UInt8] = []
    Wipe.bytes(&none)
    #expect(none.isEmpty)
  }
}
