package import CryptoCore

/// A place that hands each call to another place, for tests.
package protocol ForwardingPlace: RecordPlace {
  /// The place that gets the calls; a call throws if there is none.
  var base: any RecordPlace { get throws(StorageError) }
}

extension ForwardingPlace {
  package func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64) {
    try base.header()
  }

  package func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 { try base.updateHeader(body) }

  package func lookup(
    _ name: NameHash
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) { try base.lookup(name) }

  package func commit(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome { try base.commit(writes, headerVersion: headerVersion) }

  package func names() throws(StorageError) -> [NameHash] { try base.names() }

  package func discard() throws(StorageError) { try base.discard() }

  package func observe(
    _ observer: @escaping @Sendable (RecordChange) -> Void
  ) -> ChangeObservation {
    // The next call that can throw gets the error.
    do throws(StorageError) { return try base.observe(observer) } catch {
      return ChangeObservation {}
    }
  }
}
