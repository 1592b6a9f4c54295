import CryptoCore
import SingletonBackend
import StorageCore

/// A delegate in memory whose header can be read and replaced.
final class RawDelegate: RecordPlace {
  private let base = SingletonStorageDelegate()

  /// The raw header.
  var bytes: [UInt8]? {
    get { do { return try base.header().header } catch { finding("\(error)") } }
    set {
      do {
        _ = try base.updateHeader { (header, _) throws(StorageError) in header = newValue }
      } catch { finding("\(error)") }
    }
  }

  func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64) { try base.header() }

  func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 { try base.updateHeader(body) }

  func lookup(
    _ name: NameHash
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) { try base.lookup(name) }

  func commit(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome { try base.commit(writes, headerVersion: headerVersion) }

  func names() throws(StorageError) -> [NameHash] { try base.names() }

  func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation {
    base.observe(observer)
  }
}
