import CryptoCore
import SingletonBackend
import StorageCore
import StorageTesting

/// A working delegate in memory whose raw records and header a test can read and replace.
final class OpenDelegate: ForwardingPlace {
  private struct Plan {
    var commitsLeft = Int.max
    var commits = 0
    var headerChanges = 0
    var beforeCommit: (@Sendable () -> Void)?
    var beforeListing: (@Sendable () -> Void)?
  }

  let base: any RecordPlace = SingletonStorageDelegate()
  private let plan = Lock(Plan())

  /// How many commits were made.
  var commits: Int { plan.withLock { $0.commits } }

  /// How often the header was changed.
  var headerChanges: Int { plan.withLock { $0.headerChanges } }

  /// Lets `count` more commits work; the ones after that fail with `io`.
  func fail(afterCommits count: Int) { plan.withLock { $0.commitsLeft = count } }

  /// Makes all commits work again.
  func recover() { plan.withLock { $0.commitsLeft = .max } }

  /// Runs `body` before the next commit, once, outside all locks.
  func beforeNextCommit(_ body: @escaping @Sendable () -> Void) {
    plan.withLock { $0.beforeCommit = body }
  }

  /// Runs `body` before the names are listed next, once, outside all locks.
  func beforeNextListing(_ body: @escaping @Sendable () -> Void) {
    plan.withLock { $0.beforeListing = body }
  }

  /// Puts raw bytes, or nothing, in the place of a record.
  func replace(_ name: NameHash, with record: [UInt8]?) throws {
    let version = try base.header().version
    guard try base.commit(RecordWrite(record, for: name), headerVersion: version) == .committed
    else { throw StorageError(.busy, "the header changed meanwhile") }
  }

  /// Puts raw bytes, or nothing, in the place of the header.
  func replaceHeader(with bytes: [UInt8]?) throws {
    _ = try base.updateHeader { (header, _) throws(StorageError) in header = bytes }
  }

  /// Removes all records and the header, as somebody does who removes the file of a store.
  func removeStore() throws {
    for name in try base.names() { try replace(name, with: nil) }
    try replaceHeader(with: nil)
  }

  /// The raw header, which must be there.
  func headerBytes() throws -> [UInt8] {
    guard let header = try base.header().header else {
      throw StorageError(.unavailable, "there is no header")
    }
    return header
  }

  /// All raw records.
  func records() throws -> [NameHash: [UInt8]] {
    var records: [NameHash: [UInt8]] = [:]
    for name in try base.names() { records[name] = try base.record(for: name) }
    return records
  }

  /// The name and the bytes of the only record.
  func onlyRecord() throws -> (name: NameHash, record: [UInt8]) {
    let records = try records()
    guard records.count == 1, let (name, record) = records.first else {
      throw StorageError(.invalid, "there are \(records.count) records")
    }
    return (name, record)
  }

  // MARK: - The delegate

  func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    let before = try base.header().version
    let after = try base.updateHeader(body)
    if after != before { plan.withLock { $0.headerChanges += 1 } }
    return after
  }

  func commit(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome {
    let hook = plan.withLock { plan in
      defer { plan.beforeCommit = nil }
      return plan.beforeCommit
    }
    hook?()
    let mayCommit = plan.withLock { plan in
      plan.commitsLeft -= 1
      if plan.commitsLeft >= 0 { plan.commits += 1 }
      return plan.commitsLeft >= 0
    }
    guard mayCommit else { throw StorageError(.io, "on cue") }
    return try base.commit(writes, headerVersion: headerVersion)
  }

  func names() throws(StorageError) -> [NameHash] {
    let hook = plan.withLock { plan in
      defer { plan.beforeListing = nil }
      return plan.beforeListing
    }
    hook?()
    return try base.names()
  }
}
