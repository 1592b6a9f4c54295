internal import CryptoCore
internal import Glibc
internal import StorageCore

/// The vaults in use by this process: one for each file and kind of access.
enum VaultRegistry {
  private struct Key: Hashable {
    let file: VaultFile
    let access: VaultAccess
    let trust: FolderTrust
  }
  private struct Entry {
    weak var vault: VaultEngine?
  }
  /// Makes exit(3) close the open vaults, so that the log is merged into the file when nobody uses
  /// the vault.
  ///
  /// A static storage is never released. After a kill the log stays, and the next process that
  /// opens the vault reads it.
  private static let closing: OwnProcess = {
    _ = atexit { closeAll() }
    return OwnProcess()
  }()

  private static func closeAll() {
    // A child of fork(2) has copies of its parent's locks, which nobody there releases.
    guard closing.isCurrent else { return }
    for vault in entries.withLock({ $0.values.compactMap(\.vault) }) { vault.shutDown() }
  }

  /// Closes a file that will be replaced if another kind of access in this process has it open.
  static func close(_ file: VaultFile, but engine: VaultEngine) {
    let others = entries.withLock { entries in
      entries.filter { $0.key.file == file }.compactMap(\.value.vault).filter { $0 !== engine }
    }
    for other in others { other.close() }
  }

  private static let entries = Lock<[Key: Entry]>([:])

  /// The vault of a file.
  static func vault(of file: VaultFile, _ access: VaultAccess) -> VaultEngine {
    entries.withLock { entries in
      let key = Key(file: file, access: access, trust: file.trust)
      if let vault = entries[key]?.vault { return vault }
      _ = closing
      let vault = VaultEngine(file, access)
      entries = entries.filter { $0.value.vault != nil }
      entries[key] = Entry(vault: vault)
      return vault
    }
  }
}
