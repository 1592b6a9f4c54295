import CryptoCore
import StorageCore

/// A delegate in memory that can hide records, from its list or altogether, as whoever keeps them
/// can.
final class WithholdingDelegate: RecordPlace {
  private struct State {
    var header: [UInt8]?
    var version: UInt64 = 0
    var records: [NameHash: [UInt8]] = [:]
    var isHidden: @Sendable (NameHash) -> Bool = { _ in false }
  }
  private let state = Lock(State())

  /// Leaves these names out of the list.
  func hide(_ isHidden: @escaping @Sendable (NameHash) -> Bool) {
    state.withLock { $0.isHidden = isHidden }
  }

  /// Lists everything again.
  func showAll() { hide { _ in false } }

  var headerCount: Int { state.withLock { $0.header?.count ?? 0 } }
  /// All records, hidden or not.
  var records: [NameHash: [UInt8]] { state.withLock { $0.records } }

  /// Puts raw bytes, or nothing, in the place of a record.
  func replace(_ name: NameHash, with record: [UInt8]?) {
    state.withLock { $0.records[name] = record }
  }

  func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64) {
    state.withLock { ($0.header, $0.version) }
  }

  func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    let (old, shown) = state.withLock { state in
      (state.header, state.records.filter { !state.isHidden($0.key) })
    }
    var (new, changed) = (old, [(NameHash, NameHash, [UInt8])]())
    let held = HeldRecords(
      isEmpty: shown.isEmpty,
      visiting: { (each) throws(StorageError) in for (name, record) in shown { each(name, record) }
      },
      rewriting: { (rewrite) throws(StorageError) in
        for (name, record) in shown {
          guard let (newName, newRecord) = try rewrite(name, record) else { continue }
          changed.append((name, newName, newRecord))
        }
      })
    try body(&new, held)
    return state.withLock { state in
      for (name, _, _) in changed { state.records[name] = nil }
      for (_, name, record) in changed { state.records[name] = record }
      if new != state.header { state.version += 1 }
      state.header = new
      return state.version
    }
  }

  func lookup(
    _ name: NameHash
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) {
    state.withLock { ($0.records[name], $0.version) }
  }

  func commit(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome {
    state.withLock { state in
      guard state.version == headerVersion else { return .headerChanged }
      guard writes.allSatisfy({ $0.isAllowed(over: state.records[$0.name]) }) else {
        return .conditionFailed
      }
      for write in writes where !write.isCheck { state.records[write.name] = write.record }
      return .committed
    }
  }

  func names() throws(StorageError) -> [NameHash] {
    state.withLock { state in state.records.keys.filter { !state.isHidden($0) } }
  }

  func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation {
    ChangeObservation {}  // no test of it follows changes
  }
}
