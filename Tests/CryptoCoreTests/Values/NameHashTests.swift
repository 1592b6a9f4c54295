import CryptoCore
import TestSupport
import Testing

struct NameHashTests {
  @Test func hexadecimalComesBackAsTheSameHash() throws {
    for _ in 0..<50 {
      let hash = try #require(NameHash(randomBytes(64)))
      #expect(hash.hexadecimal.count == 128)
      #expect(NameHash(hexadecimal: hash.hexadecimal) == hash)
      #expect(hash.hexadecimal == hash.bytes.hex)
    }
  }

  @Test func onlyOneFormOfHexadecimalIsTaken() throws {
    let text = try #require(NameHash([UInt8](repeating: 0xab, count: 64))).hexadecimal
    #expect(NameHash(hexadecimal: text) != nil)
    let cut = String(text.dropLast())
    let others: [String] = [
      text.uppercased(), cut, String(cut.dropLast()), "\(text)0", "\(text)00",
      " \(text.dropFirst())", "\(cut)g", "\(cut)\u{30A}", "", "0x\(text)",
    ]
    for other in others { #expect(NameHash(hexadecimal: other) == nil, "\(other)") }
  }

  @Test(arguments: [0, 1, 63, 65, 128])
  func anotherNumberOfBytesIsNoHash(count: Int) throws {
    #expect(try NameHash(randomBytes(count)) == nil)
  }

  @Test func aNameHashesByItsBytesUnderItsKey() throws {
    let names = try KeyedHash(.random())
    let hash = try names.hash(name: "töken")
    #expect(try names.hash(name: "töken") == hash)
    #expect(try names.hash(Array("töken".utf8)) == hash.bytes)
    #expect(try KeyedHash(.random()).hash(name: "töken") != hash)
    // The same letters, composed and decomposed, are different bytes.
    #expect(try names.hash(name: "t\u{f6}ken") != names.hash(name: "to\u{308}ken"))
    #expect(try names.hash(name: "") != names.hash(name: "\0"))
  }
}
