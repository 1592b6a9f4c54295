package import CryptoCore

/// A place that many machines share, whose reads may be answered from a memory that is behind.
///
/// Elsewhere nobody writes while the header is changed. Here others do, up to the change: what they
/// wrote under the old header counts, and what somebody with an old key wrote later does not.
package protocol DistantPlace: RecordPlace {
  /// How long a call may take.
  var deadline: Duration { get }

  /// The records of some names at one moment, which is not earlier than the call, and the version of
  /// the header then.
  ///
  /// - Throws: `StorageError` when the engine can't be asked.
  func latest(
    _ names: [NameHash]
  ) throws(StorageError) -> (records: [[UInt8]?], headerVersion: UInt64)

  /// Calls `sink` when the engine is lost or found again, and when changes were missed, until the
  /// observation is released.
  func watchConnection(
    _ sink: @escaping @Sendable (ConnectionEvent) -> Void
  ) -> ChangeObservation

  /// Takes in all records that there are.
  ///
  /// - Throws: `StorageError` when the engine can't be asked.
  func takeInAll() throws(StorageError)

  /// Whether a record under a name was committed before the header had a version.
  ///
  /// - Throws: `StorageError` when the place can't be used.
  func isRecord(
    _ record: [UInt8], of name: NameHash, olderThan headerVersion: UInt64
  ) throws(StorageError) -> Bool
}

/// What happens to a connection to an engine.
package enum ConnectionEvent: Sendable {
  /// It was lost, so changes of others don't arrive.
  case lost(StorageError)
  /// It was found again after this time, and everything was compared.
  case found(after: Duration)
  /// A comparison took in this many changes that had not been told.
  case repaired(Int)
}

/// When the call of this task or thread gives up that asks a place several times.
package enum CallLimit {
  /// The moment; nil where each question has the time that the place gives it.
  @TaskLocal package static var end: MonotonicTime?
}
