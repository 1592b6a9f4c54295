internal import CryptoCore
internal import StorageCore
internal import Synchronization

/// The observers of a vault, and whether they know that the file can't be read.
final class VaultListeners: Sendable {
  private let file = FileObservers()
  /// Whether observers were told that the file can't be read; changed under the engine's gate.
  private let isFailureTold = Atomic<Bool>(false)

  /// The observers to notify.
  var changes: ChangeObservers { file.changes }

  /// Tells the observers, under the lock of the engine's memory.
  func notify(_ changes: [RecordChange], _ headerVersion: UInt64) {
    for change in changes {
      self.changes.notify(
        RecordChange(name: change.name, record: change.record, headerVersion: headerVersion))
    }
  }

  /// Whether observers must be told that the file can't be read, as they now are; under the gate.
  ///
  /// True once for each time that the file becomes unreadable.
  func mustTell(of error: StorageError) -> Bool {
    // A long write by another process is no failure of the file.
    guard error.code != .busy, !changes.isEmpty else { return false }
    return !isFailureTold.exchange(true, ordering: .relaxed)
  }

  /// Whether observers must be told that the file can be read again, as they now are; under the
  /// gate.
  func mustTellOfRecovery() -> Bool { isFailureTold.exchange(false, ordering: .relaxed) }

  /// Makes the observers look themselves, by a change of a name that no record has; under the lock
  /// of the engine's memory.
  func notifyAll() {
    guard let nobody = NameHash([UInt8](repeating: 0, count: NameHash.byteCount)) else { return }
    changes.notify(RecordChange(name: nobody, record: nil))
  }

  /// Calls `observer` for each change, including other processes' changes, until the observation is
  /// released.
  func add(
    _ observer: @escaping @Sendable (RecordChange) -> Void, of engine: VaultEngine
  ) -> ChangeObservation {
    engine.notice.prepare()
    return file.add(
      observer, of: engine, watching: .file(engine.file.noticePath), and: .entry(engine.file.path),
      threadName: "SPS vault"
    ) { (engine) throws(StorageError) in try engine.follow(waiting: .seconds(5)) }
  }
}
