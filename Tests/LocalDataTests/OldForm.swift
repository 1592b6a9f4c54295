import Foundation

/// Stored bytes of the value `admin` of the key `role`, as the release before ids of places wrote
/// them.
///
/// The master key is 32 bytes 42, the key of the group 32 bytes 43, the material of the provider
/// `p` 32 bytes 44, that of the provider `weak` one byte 45, the passcode `1`, the key that
/// machines share 32 bytes 03.
enum OldForm {
  static let custom = hex(
    "53504c4401010102010000000020f18d4313d3acd1af16c851adf8b30b779634"
      + "ca611e0dbb9e6ddc334e9c02c402000000cf292fcaafa0042a7bdeb275d0e5bf"
      + "01020000000169411e5559edb1fa7c702c6076c5cf198e6722ea266c862c2fbe"
      + "b38956d30ba3ca472a")
  static let sealedCustom = hex(
    "53504c440101010201000000002024f5aaeceeb01cbe8fd095a33b559ee369fc"
      + "808bff2f8ee5eceafd30d024f24000002469603d8cc6b60fdc3a231af8865f3e"
      + "010200000001eb37bf40687d6a6dbb1642fa3f1885d3991730a5022a67fdcad3"
      + "dabaca8ba3bbd4eed1")
  static let group = hex(
    "53504c440101010201000000002015a5668886452f42157e56bb06e3d5f4ec4b"
      + "3e5e53ef7f498e7b75acc17d1c09000018522675d1820cb83b939b4f650c1d12"
      + "01020000000183e4111c5eed34edb18f30f81b3e92063e46de51f3d0445a4aa7"
      + "ffd33cb477d426d543")
  static let groupSuite = hex(
    "53504c4401010202010000000020d10bdb4c73bf156404fb9c3878e0f5e9a2d4"
      + "484720df01791a35883239519427000170e1a4b02290c761da4c9a2ff1d5756c"
      + "06010200000001953762e1a0948347b510b6ed675e76933e2b7f93bbee322317"
      + "038232c88dc4cea387e6")
  static let oneRound = hex(
    "53504c44010101010200000001208c3d9bc15dcd25e479605bbbbb4f9fbcb25c"
      + "7f42afefd85a7cf3a44b78fa45dc00007acb57fbd3917a3b17a7b27395f12b17"
      + "010100000001d6480aa2a766df124d66d7c8f0b056d60b66d4aa09f5e3cf9a51"
      + "9337e53b0f503178e2")
  static let weakProvider = hex(
    "53504c44010102020100000000202dd1b891b36b442d72c2632587c2a5e06df6"
      + "282934552e788706d72e7418c7f300047765616bf8d4158d429118c997c40337"
      + "2390d7e1010200000001bcb0c2da4d9246d99ef14028c7fd2ec3ff389a4477df"
      + "bff3839bef5b7b41338c3b6a60")
  static let weakRounds = hex(
    "53504c440101020202000000012017241293b7c27cba2fccc8956342d27e717b"
      + "b33d77064ca2c6999182462c15bc00047765616b7c30852a7ff7e49c69bf8404"
      + "d8132752010200000001a4531cde372c5d1d6568c5f8617b2b7742efc3acbcb2"
      + "d3f5086da1b76f78609a359911")
  static let passcode = hex(
    "53504c4401010301030000000020a63379673ec0aa06b1f69da1c067899cda9b"
      + "205f6689586c57c8adba1b9817a800008a381521f648a520c18bb73775a7e1fb"
      + "010100000001f5434b974f4a4d71623515f2eb7e4af3b975a1f3cf6f85ddb80d"
      + "8698950e96cc3075db")
  static let shared = hex(
    "53505359010153504c4401010102010000000020d6d4a1dc4f52be2a4d633a64"
      + "a3e4321c7feeb8c48b8347d371a84522198b7ab10000dc8272463b3e3baca3cd"
      + "75da49b5cbd1010200000001b39033c22a919c565f6da3f304640e6473dd08e0"
      + "4d4c8d27a6aa3a75bba7dfe63477c1e0720145cacc105aa0d3")

  private static func hex(_ text: String) -> Data {
    var bytes = Data()
    var rest = text[...]
    while let byte = UInt8(rest.prefix(2), radix: 16) {
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return bytes
  }
}
