internal import StorageCore

/// What the parts of one vault in this process share; ``VaultEngine`` says what each is.
struct VaultContext: Sendable {
  let file: VaultFile
  let isReadOnly: Bool
  let memory: SharedLock<VaultMemory>
  let seen: SeenCommits
  let notice: VaultNotice
  let observers: VaultObservers
}
