import Foundation
import VaultBackend

/// A vault in a folder of its own, which goes away with it.
final class TemporaryVault: Sendable {
  let folder: URL
  var url: URL { folder.appendingPathComponent("test.vault") }

  init() {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try! FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func delegate() -> VaultDelegate { VaultDelegate(at: url) }

  func storage() -> VaultStorage {
    VaultStorage(at: url, keySource: .key(SymmetricKey(data: Data(repeating: 7, count: 32))))
  }
}
