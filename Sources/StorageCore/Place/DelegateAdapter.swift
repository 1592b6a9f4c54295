internal import CryptoCore

/// Makes a place of a simple ``StorageDelegate``, which has no header.
///
/// The header is always absent and always has version 0, the version of keys that are derived
/// directly from the application's key.
final class DelegateAdapter: RecordPlace {
  private let base: any StorageDelegate
  private let observable: (any ObservableDelegate)?
  /// Reports this process's writes, where the delegate reports nothing.
  private let changes = SetOnce<ChangeHub>()

  init(_ base: any StorageDelegate) {
    self.base = base
    observable = base as? any ObservableDelegate
  }

  var asksOthers: Bool { base.asksOthers }
  /// The place of the delegate, or this adapter where the delegate knows of none.
  var identity: DelegateIdentity? { base.identity ?? DelegateIdentity(of: self) }
  /// One: the delegate has no transactions.
  var commitLimit: Int { 1 }

  func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64) { (nil, 0) }

  func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    throw StorageError(.unsupported, "this storage's delegate keeps no header")
  }

  func lookup(
    _ name: NameHash
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) {
    (try base.record(for: name), 0)
  }

  func names() throws(StorageError) -> [NameHash] { try base.names() }

  func commit(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome {
    guard writes.count == 1 else {
      throw StorageError(.unsupported, "this storage's delegate has no transactions")
    }
    return try commit(writes[0], headerVersion: headerVersion)
  }

  func commit(
    _ write: RecordWrite, headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome {
    guard observable == nil else { return try perform(write) ? .committed : .conditionFailed }
    let change = RecordChange(name: write.name, record: write.record, headerVersion: 0)
    let isMade = try hub.telling(change) { () throws(StorageError) in try perform(write) }
    return isMade ? .committed : .conditionFailed
  }

  /// - Returns: whether the condition held.
  private func perform(_ write: RecordWrite) throws(StorageError) -> Bool {
    switch (write.record, write.condition) {
    case (let record?, .always):
      try base.set(record, for: write.name)
      return true
    case (let record?, .absent): return try base.setIfAbsent(record, for: write.name)
    case (nil, .always):
      try base.remove(write.name)
      return true
    default:
      throw StorageError(
        .unsupported, "this storage's delegate can't compare, so it has no atomic update")
    }
  }

  /// Removes the records: there is no header.
  func discard() throws(StorageError) {
    for name in try names() { _ = try commit(RecordWrite(nil, for: name), headerVersion: 0) }
  }

  func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation {
    guard let observable else { return hub.add(observer) }
    return observable.observe {
      observer(RecordChange(name: $0.name, record: $0.record, headerVersion: 0))
    }
  }

  private var hub: ChangeHub {
    changes.load() ?? changes.storeIfNil(ChangeHub.hub(of: identity ?? DelegateIdentity(of: self)))
  }
}
