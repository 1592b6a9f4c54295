internal import CryptoCore
internal import StorageCore

/// The vaults of this process that are in use: one for each file and way of access.
enum VaultRegistry {
  private struct Key: Hashable {
    let file: VaultFile
    let access: VaultAccess
  }
  private struct Entry {
    weak var vault: VaultEngine?
  }
  private static let entries = Lock<[Key: Entry]>([:])

  /// The vault of a file.
  static func vault(of file: VaultFile, _ access: VaultAccess) -> VaultEngine {
    entries.withLock { entries in
      let key = Key(file: file, access: access)
      if let vault = entries[key]?.vault { return vault }
      let vault = VaultEngine(file, access)
      entries = entries.filter { $0.value.vault != nil }
      entries[key] = Entry(vault: vault)
      return vault
    }
  }
}
