internal import CryptoCore
internal import Glibc
internal import StorageCore

/// The vaults in use by this process: one for each file and kind of access.
enum VaultRegistry {
  private struct Key: Hashable {
    let file: VaultFile
    let isReadOnly: Bool
    let trust: FolderTrust
  }
  private static let vaults = WeakTable<Key, VaultEngine>()
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
    for (_, vault) in vaults.all { vault.gate.shutDown() }
  }

  /// Closes a file that will be replaced if another kind of access in this process has it open.
  static func close(_ file: VaultFile, but gate: VaultGate) {
    for (key, other) in vaults.all where key.file == file && other.gate !== gate {
      other.gate.close()
    }
  }

  /// The same for a file that will be replaced if nobody else has it open.
  static func leave(_ file: VaultFile, but gate: VaultGate) {
    for (key, other) in vaults.all where key.file == file && other.gate !== gate {
      other.gate.leave()
    }
  }

  /// The vault of a file.
  static func vault(of file: VaultFile, isReadOnly: Bool) -> VaultEngine {
    vaults.object(Key(file: file, isReadOnly: isReadOnly, trust: file.trust)) {
      _ = closing
      return VaultEngine(file, isReadOnly: isReadOnly)
    }
  }
}
