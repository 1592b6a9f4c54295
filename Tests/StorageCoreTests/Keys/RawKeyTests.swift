import CryptoCore
import Foundation
import StorageCore
import StorageTesting
import TestSupport
import Testing

/// A file of 32 bytes is a key, whatever the bytes are.
@Suite struct RawKeyTests {
  /// Each byte once at the beginning, and once at the end; of those that are printable throughout and so are
  /// passphrases, which are stretched, some.
  private static let keys: [[UInt8]] = {
    let printable = 0x20...0x7e
    let some = Depth.cases(Array(printable), day: 3)
    var keys: [[UInt8]] = []
    for byte in 0...255 {
      keys.append([UInt8](repeating: 0x0d, count: 31) + [UInt8(byte)])
      guard !printable.contains(byte) || some.contains(byte) else { continue }
      keys.append([UInt8(byte)] + [UInt8](repeating: 0x41, count: 31))
    }
    return keys
  }()

  @Test func whateverByteItEndsInItOpensAsTheSameKey() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("key")
    for bytes in Self.keys {
      try Data(bytes).write(to: path)
      _ = unsafe chmod(path.path, 0o600)
      let delegate = OpenDelegate()
      let source = KeySource.key(SymmetricKey(data: Data(bytes)))
      let made = DelegatedStorage.quiet(delegate, .file(path))
      try made.save("kept", forKey: "k")
      // The same bytes as a mounted secret, and as a slot of a key in memory.
      let mounted = DelegatedStorage.quiet(delegate, .mountedSecret(path.path))
      #expect(
        try mounted.load(String.self, forKey: "k") == "kept", "\(bytes.first!) \(bytes.last!)")
      _ = try made.keyAdministration.add(source)
      let other = DelegatedStorage.quiet(delegate, source)
      #expect(try other.load(String.self, forKey: "k") == "kept")
    }
  }
}
