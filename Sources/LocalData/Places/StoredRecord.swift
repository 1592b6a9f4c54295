internal import StorageCore

internal import struct FoundationEssentials.Data

/// A record in one of the package's storages: a suite, the vault or the keyring.
struct StoredRecord: ValuePlace {
  /// Holds the hash of the name, so that a read does not compute it again.
  private let record: Store<Data, DelegatedStorage>

  init(_ storage: DelegatedStorage, _ name: String) { record = Store(storage, name) }

  func read() throws(StorageError) -> Data? { try record.load() }
  func readAtOnce() -> Data? { record.core.loadAtOnce() ?? nil }
  func write(_ bytes: Data) throws(StorageError) { try record.save(bytes) }
  func remove() throws(StorageError) { try record.remove() }
  func contains() throws(StorageError) -> Bool { try record.storage.contains(record.key) }

  func replace(_ old: Data?, by new: Data?) throws(StorageError) -> Bool {
    try storageErrors {
      try record.update { bytes in
        guard bytes == old else { return false }
        bytes = new
        return true
      }
    }
  }

  func observe(_ onChange: @escaping @Sendable () -> Void) -> ChangeObservation {
    follow(record.storage, record.key, onChange)
  }
}

/// Calls `onChange` now and after changes of a record, on a thread that may block.
///
/// Opens no record. Changes that arrive during a call lead to one more call.
func follow(
  _ storage: some Storage, _ name: StoreKey, _ onChange: @escaping @Sendable () -> Void
) -> ChangeObservation {
  let store = storage.store
  let task = Task.detached {
    let (hints, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    // A service may take long to answer.
    let observation = await Blocking.run {
      store.observe(store.name(name)) { continuation.yield() }
    }
    continuation.yield()
    for await _ in hints { await Blocking.run { onChange() } }
    withExtendedLifetime(observation) {}
  }
  return ChangeObservation { task.cancel() }
}
