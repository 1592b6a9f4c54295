import Foundation
import LocalData
import VaultBackend

/// The vaults that a router makes, as an operator sees them.
enum VaultFiles {
  static let masterName = "LocalData/MasterKey"

  static func vault(_ path: String, _ source: KeySource) -> VaultStorage {
    VaultStorage(at: URL(fileURLWithPath: path), keySource: source)
  }

  static func master(in folder: TestFolder) -> VaultStorage {
    VaultStorage(
      at: folder.url.appendingPathComponent("data/com.example.app/keychain.vault"),
      keySource: .key(TestFolder.key))
  }
}
