internal import CryptoCore
internal import StorageCore
internal import Synchronization

/// Tells observers about changes.
extension VaultEngine {
  /// Tells the observers, under the lock of `memory`.
  func notify(_ changes: [RecordChange], _ headerVersion: UInt64) {
    for change in changes {
      observers.notify(
        RecordChange(name: change.name, record: change.record, headerVersion: headerVersion))
    }
  }

  /// Makes the observers look themselves, once for each time that the file becomes unreadable;
  /// under the gate.
  func tellOfFailure(_ error: StorageError) {
    // A long write by another process is no failure of the file.
    guard error.code != .busy, !observers.isEmpty, !isFailureTold.load(ordering: .relaxed)
    else { return }
    isFailureTold.store(true, ordering: .relaxed)
    memory.withLock { _ in notifyAll() }
  }

  /// Makes the observers look again when the file can be read again; under the gate.
  func tellOfRecovery() {
    guard isFailureTold.load(ordering: .relaxed) else { return }
    isFailureTold.store(false, ordering: .relaxed)
    memory.withLock { memory in
      notifyAll()
      notify(
        memory.records.all.map { RecordChange(name: $0.key.name, record: $0.entry.record) },
        memory.headerVersion)
    }
  }

  /// Reports a change of an unknown name; under the lock of `memory`.
  private func notifyAll() {
    guard let nobody = NameHash([UInt8](repeating: 0, count: NameHash.byteCount)) else { return }
    observers.notify(RecordChange(name: nobody, record: nil))
  }

  /// Calls `observer` for each change, including other processes' changes, until the observation is
  /// released.
  func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation {
    notice.prepare()
    return fileObservers.add(
      observer, of: self, watching: .file(file.noticePath), and: .entry(file.path),
      threadName: "SPS vault"
    ) { (engine) throws(StorageError) in try engine.follow(waiting: .seconds(5)) }
  }
}
