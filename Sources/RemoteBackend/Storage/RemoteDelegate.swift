package import CryptoCore
package import StorageCore

/// Sealed records in an engine that machines share; what a ``RemoteStorage`` stores them through.
///
/// All delegates of one configuration in a process share one copy in memory and one watch.
package final class RemoteDelegate: RecordPlace {
  /// What an engine's users are told.
  package struct Advice: Sendable {
    /// Where to look if there is no store, and how one is made.
    let missing: String
    /// How the engine's administrator removes the store of a name.
    let removal: @Sendable (String, any RemoteEngine) -> String

    /// Makes advice.
    package init(
      missing: String, removal: @escaping @Sendable (String, any RemoteEngine) -> String
    ) {
      (self.missing, self.removal) = (missing, removal)
    }
  }

  private let handle: PlaceHandle<RemotePlace>
  private let reading: Reading
  private let advice: Advice

  /// The delegate of the store to which a way leads that is known at the first use.
  package init(
    reading: RemoteReading, _ advice: Advice,
    _ way: @escaping @Sendable () throws(StorageError) -> RemoteWay
  ) {
    (self.reading, self.advice) = (reading.reading, advice)
    let find: @Sendable () throws(StorageError) -> RemotePlace = { () throws(StorageError) in
      try way().place()
    }
    handle = PlaceHandle(use: { .mustExist }, find: find)
  }

  /// The place, which all delegates of the store share.
  package func place() throws(StorageError) -> RemotePlace { try handle.object() }

  /// True: a call may ask the engine.
  package var asksOthers: Bool { true }

  /// Identifies the store; nil for a configuration that is wrong.
  package var identity: DelegateIdentity? { handle.identity }

  /// The store's address, for errors; nil for a configuration that is wrong.
  package var location: String? { handle.location }

  /// What the program may do here; a missing store is never made by a write.
  package var allowance: StoreAccess { handle.known?.allowance ?? .mustExist }

  /// The name of the store, to which the keys are bound.
  package func place() throws(StorageError) -> String { try handle.object().place() as String }

  /// How many writes a transaction may have; 1 for a configuration that is wrong.
  package var commitLimit: Int {
    do throws(StorageError) { return try place().commitLimit } catch {
      return 1  // every use throws the error
    }
  }

  /// The header and its version.
  ///
  /// - Throws: `StorageError` when the store can't be read for the first time.
  package func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64) {
    try place().header()
  }

  /// Lets `body` change the header; `body` runs again if another machine changed it meanwhile.
  ///
  /// - Throws: `StorageError`, or what `body` throws; the header is then unchanged, except with
  ///   the code `outcomeUnknown`.
  package func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 { try place().updateHeader(body) }

  /// The record under `name`, and the version of the header that was current when it was read.
  ///
  /// - Throws: `StorageError` when the store can't be read.
  package func lookup(
    _ name: NameHash
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) {
    try place().lookup(name, reading)
  }

  /// Copies a record out of memory, where the reader takes what memory has.
  package func copyRecord(
    _ name: NameHash, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> RecordCopy? {
    guard case .cached = reading else { return nil }
    return unsafe try place().copyRecord(name, into: buffer)
  }

  /// Makes all of `writes` or none, in one atomic step, if the header has the given version.
  ///
  /// - Throws: `StorageError`; nothing is then changed, except with the code `outcomeUnknown`.
  package func commit(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome {
    try place().commit(writes, headerVersion: headerVersion)
  }

  /// The names of all records.
  ///
  /// - Throws: `StorageError` when the store can't be read.
  package func names() throws(StorageError) -> [NameHash] { try place().names(reading) }

  /// All records of one moment.
  package func allRecords() throws(StorageError) -> AllRecords? {
    try place().allRecords(reading)
  }

  /// Refuses: the machines share the store, and one that lacks its key must not remove it for all.
  ///
  /// - Throws: `StorageError`: `unsupported`, with what the engine's administrator does.
  package func discard() throws(StorageError) {
    let place = try place() as RemotePlace
    throw StorageError(
      .unsupported,
      "machines share the store, so no program discards it. Where it is to go for all of them, stop them "
        + "and let \(advice.removal(place.options.place, place.engine))", path: location)
  }

  /// Calls `observer` for each change of any machine.
  package func observe(
    _ observer: @escaping @Sendable (RecordChange) -> Void
  ) -> ChangeObservation {
    do throws(StorageError) { return try place().observe(observer) } catch {
      return ChangeObservation {}  // every use throws the error
    }
  }
}

extension RemoteDelegate: DistantPlace {
  package var deadline: Duration {
    do throws(StorageError) { return try place().deadline } catch {
      return .seconds(10)  // every use throws the error
    }
  }

  package func latest(
    _ names: [NameHash]
  ) throws(StorageError) -> (records: [[UInt8]?], headerVersion: UInt64) {
    try place().latest(names)
  }

  package func watchConnection(
    _ sink: @escaping @Sendable (ConnectionEvent) -> Void
  ) -> ChangeObservation {
    do throws(StorageError) { return try place().watchConnection(sink) } catch {
      return ChangeObservation {}  // every use throws the error
    }
  }

  package func takeInAll() throws(StorageError) { try place().takeInAll() }

  package func isRecord(
    _ record: [UInt8], of name: NameHash, olderThan headerVersion: UInt64
  ) throws(StorageError) -> Bool {
    try place().isRecord(record, of: name, olderThan: headerVersion)
  }
}

extension RemoteDelegate: KeepsOwnValues {
  package var ownPrefix: String { RemoteStorage.machinePrefix }
}

extension RemoteDelegate: MadeByCommand {
  package var missing: StorageError {
    StorageError(.unavailable, advice.missing, path: location)
  }
}
