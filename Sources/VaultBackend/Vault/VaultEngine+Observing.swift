internal import CryptoCore
internal import StorageCore

/// Telling others of changes.
extension VaultEngine {
  /// Tells the observers, under the lock of `memory`.
  func notify(_ changes: [RecordChange], _ headerVersion: UInt64) {
    for change in changes {
      observers.notify(
        RecordChange(name: change.name, record: change.record, headerVersion: headerVersion))
    }
  }

  /// Calls `observer` for each change, also of other processes, until the observation is released.
  func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation {
    notice.prepare()
    return fileObservers.add(
      observer, of: self, watching: .file(file.noticePath), threadName: "SPS vault"
    ) { (engine) throws(StorageError) in try engine.follow(waiting: .seconds(5)) }
  }
}
