import CryptoCore
import Testing

struct SymmetricKeyTests {
  @Test(arguments: [
    (SymmetricKeySize.bits128, 128), (.bits192, 192), (.bits256, 256), (.init(bitCount: 512), 512),
  ])
  func aKeyHasTheSizeAskedFor(size: SymmetricKeySize, bits: Int) throws {
    #expect(SymmetricKey(size: size).bitCount == bits)
    #expect(try SymmetricKey.random(size: size).bytes.count == bits / 8)
    #expect(try SymmetricKey.random().bitCount == 256)
  }

  @Test(arguments: [0, -8, 7, 12])
  func aSizeThatIsNoPositiveMultipleOf8IsACallersBug(bitCount: Int) async {
    await #expect(processExitsWith: .failure) { [bitCount] in
      _ = SymmetricKeySize(bitCount: bitCount)
    }
  }

  @Test func noTwoRandomKeysAreEqual() throws {
    let keys = try (0..<200).map { _ in try SymmetricKey.random() }
    #expect(Set(keys.map { $0.bytes.exposed }).count == 200)
  }

  @Test func copiesShareTheBytes() throws {
    let key = try SymmetricKey.random()
    let copy = key
    #expect(copy.bytes === key.bytes)
    #expect(SymmetricKey(bytes: key.bytes) == key)
    #expect(SymmetricKey(data: key.bytes.exposed) == key)
    #expect(try SymmetricKey.random() != key)
  }
}
