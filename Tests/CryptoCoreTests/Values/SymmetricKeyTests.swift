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

  @Test(arguments: [0, -8, 12])
  func aSizeThatIsNoPositiveMultipleOf8IsACallersBug(bitCount: Int) async {
    await #expect(processExitsWith: .failure) { [bitCount] in
      _ = SymmetricKeySize(bitCount: bitCount)
    }
  }
}
