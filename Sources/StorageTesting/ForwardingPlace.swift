package import CryptoCore
package import StorageCore

/// A place that hands each call to another place, for a test that changes some of the calls.
package protocol ForwardingPlace: RecordPlace {
  associatedtype Base: RecordPlace
  /// The place that gets the calls.
  var base: Base { get }
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
  ) -> ChangeObservation { base.observe(observer) }
}
