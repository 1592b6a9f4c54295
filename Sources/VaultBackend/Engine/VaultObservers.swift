internal import CryptoCore
internal import StorageCore
internal import Synchronization

/// The observers of a vault, and whether they know that the file can't be read.
final class VaultObservers: Sendable {
  private let file: VaultFile
  private let notice: VaultNotice
  private let watched = FileObservers()
  /// Whether observers were told that the file can't be read; changed under the gate.
  private let isFailureReported = Atomic<Bool>(false)

  init(_ file: VaultFile, _ notice: VaultNotice) {
    self.file = file
    self.notice = notice
  }

  /// Whether nobody observes the vault.
  var isEmpty: Bool { watched.changes.isEmpty }

  /// Tells the observers, under the lock of memory.
  func notify(_ changes: [RecordChange], _ headerVersion: UInt64) {
    for change in changes {
      watched.changes.notify(
        RecordChange(name: change.name, record: change.record, headerVersion: headerVersion))
    }
  }

  /// Whether observers must be told that the file can't be read, as they now are; under the gate.
  ///
  /// True once for each time that the file becomes unreadable.
  func mustTell(of error: StorageError) -> Bool {
    // A long write by another process is no failure of the file.
    guard error.code != .busy, !isEmpty else { return false }
    return !isFailureReported.exchange(true, ordering: .relaxed)
  }

  /// Whether observers must be told that the file can be read again, as they now are; under the
  /// gate.
  func mustTellOfRecovery() -> Bool { isFailureReported.exchange(false, ordering: .relaxed) }

  /// Makes the observers look themselves, by a change of a name that no record has; under the lock
  /// of memory.
  func notifyAll() {
    watched.changes.notify(.unknown)
  }

  /// Calls `observer` for each change, including other processes' changes, until the observation is
  /// released.
  func add(
    _ observer: @escaping @Sendable (RecordChange) -> Void, of engine: VaultEngine
  ) -> ChangeObservation {
    notice.prepare()
    return watched.add(
      observer, of: engine, watching: .file(file.noticePath), and: .entry(file.path),
      threadName: "SPS vault"
    ) { (engine) throws(StorageError) in try engine.follower.follow(waiting: .seconds(5)) }
  }
}
