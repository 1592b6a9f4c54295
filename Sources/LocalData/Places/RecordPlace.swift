internal import StorageCore

internal import struct Foundation.Data

/// A record in one of the package's storages: a suite, the vault or the keyring.
struct RecordPlace: ValuePlace {
  /// Holds the hash of the name, so that a read does not compute it again.
  private let record: Store<Data, DelegatedStorage>

  init(_ storage: DelegatedStorage, _ name: String) { record = Store(storage, name) }

  func read() throws(StorageError) -> Data? { try record.load() }
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
    follow(record.states, onChange)
  }
}

/// Observes the states of a record or a file, on threads that may block.
func follow<States: AsyncSequence & Sendable>(
  _ states: States, _ onChange: @escaping @Sendable () -> Void
) -> ChangeObservation where States.Failure == Never {
  let task = Task.detached {
    for await _ in states {
      await Blocking.run { onChange() }
    }
  }
  return ChangeObservation { task.cancel() }
}
