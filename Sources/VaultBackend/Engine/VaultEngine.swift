internal import CryptoCore
internal import StorageCore

/// One vault in this process, shared by all delegates of the same file.
///
/// It holds the parts that do the work. Each part owns its state:
/// - `memory`: the known records, the header, and what tells whether they are current;
/// - `seen`: the latest commits that this process has seen, and the last restoration;
/// - `observers`: the observers;
/// - `gate`: the open file;
/// - `follower`: brings memory up to date with other processes' commits;
/// - `writer`: the queue of writers, their transactions, and the log after a commit.
///
/// Locks are taken in this order: the queue of writers, SQLite's write lock, `gate`, `memory`, and
/// then those of `seen` and of the observers' list. The lock of `notice` is taken alone. Nobody
/// waits for another process under `memory`, and no reader of a record that memory has takes any
/// other lock.
final class VaultEngine: SharedPlace {
  let file: VaultFile
  let memory = SharedLock(VaultMemory())
  let seen: SeenCommits
  let observers: VaultObservers
  let gate: VaultGate
  let follower: VaultFollower
  let writer: VaultWriter

  /// The vault of a file; see ``VaultRegistry``.
  init(_ file: VaultFile, isReadOnly: Bool) {
    self.file = file
    seen = SeenCommits.of(file)
    let notice = VaultNotice(file)
    observers = VaultObservers(file, notice)
    let vault = VaultContext(
      file: file, isReadOnly: isReadOnly, memory: memory, seen: seen, notice: notice,
      observers: observers)
    gate = VaultGate(vault)
    let log = VaultLog(gate)
    follower = VaultFollower(vault, gate, log)
    writer = VaultWriter(vault, gate, follower, log)
  }

  var path: String { file.path }

  /// From now on no storage of this process creates the vault.
  func makeNothing() { writer.makeNothing() }
}
