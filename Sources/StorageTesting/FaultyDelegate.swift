public import CryptoCore
internal import Glibc
internal import SingletonBackend
public import StorageCore

/// A working in-memory delegate that fails on request.
///
/// For tests of a program whose storage is locked, damaged, slow or full.
public final class FaultyDelegate: RecordPlace {
  /// What goes wrong in a call.
  public enum Fault: Sendable {
    /// The call throws this error and does nothing else, for example `StorageError(.locked,
    /// "...")`.
    case failure(StorageError)
    /// A record that is read has one bit flipped; writes are not affected.
    case corruption
    /// The call takes this much longer.
    case delay(Duration)
  }

  /// The calls that a fault affects.
  public struct Operations: OptionSet, Hashable, Sendable {
    /// The bits of the option set.
    public let rawValue: Int
    /// Creates a set of operations from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Reads of records.
    public static let reads = Operations(rawValue: 1)
    /// Writes and removals of records.
    public static let writes = Operations(rawValue: 2)
    /// Reads and changes of the header.
    public static let headers = Operations(rawValue: 4)
    /// All calls.
    public static let all: Operations = [.reads, .writes, .headers]
  }

  private struct Plan {
    let fault: Fault
    let operations: Operations
    var skipped: Int
    var remaining: Int
  }

  private let base = SingletonStorageDelegate()
  private let plans = Lock<[Plan]>([])

  /// Creates a delegate that works.
  public init() {}

  /// Makes calls fail from now on.
  ///
  /// - Parameters:
  ///   - operations: the calls that fail.
  ///   - fault: how the calls fail.
  ///   - skipping: how many calls still succeed first.
  ///   - times: how many calls fail after that.
  public func fail(
    _ operations: Operations, with fault: Fault, skipping: Int = 0, times: Int = .max
  ) {
    plans.withLock {
      $0.append(
        Plan(fault: fault, operations: operations, skipped: skipping, remaining: times))
    }
  }

  /// The same as that of the underlying delegate; a delaying fault does not change it.
  public var asksOthers: Bool { base.asksOthers }

  /// Removes all faults.
  public func recover() {
    plans.withLock { $0 = [] }
  }

  /// Applies the faults to a call; returns whether a record must be corrupted.
  private func enter(_ operation: Operations) throws(StorageError) -> Bool {
    let faults = plans.withLock { plans in
      var faults: [Fault] = []
      for index in plans.indices where plans[index].operations.contains(operation) {
        if plans[index].skipped > 0 {
          plans[index].skipped -= 1
        } else if plans[index].remaining > 0 {
          plans[index].remaining -= 1
          faults.append(plans[index].fault)
        }
      }
      return faults
    }
    var corrupts = false
    for fault in faults {
      switch fault {
      case .failure(let error): throw error
      case .corruption: corrupts = true
      case .delay(let duration):
        let (seconds, attoseconds) = duration.components
        let microseconds = seconds.multipliedReportingOverflow(by: 1_000_000).partialValue
        // The call must be slow: the test asked for that fault.
        usleep(UInt32(clamping: microseconds + attoseconds / 1_000_000_000_000))
      }
    }
    return corrupts
  }

  /// The record under `name`, changed or refused by the faults.
  public func lookup(
    _ name: NameHash
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) {
    let corrupts = try enter(.reads)
    var found = try base.lookup(name)
    if corrupts, let last = found.record?.indices.last { found.record![last] ^= 1 }
    return found
  }

  /// The names of all records.
  public func names() throws(StorageError) -> [NameHash] {
    _ = try enter(.reads)
    return try base.names()
  }

  /// Makes all of `writes` or none.
  public func commit(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome {
    _ = try enter(.writes)
    return try base.commit(writes, headerVersion: headerVersion)
  }

  /// The header and its version.
  public func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64) {
    _ = try enter(.headers)
    return try base.header()
  }

  /// Lets `body` change the header.
  public func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    _ = try enter(.headers)
    return try base.updateHeader(body)
  }

  /// Calls `observer` for each change, in order.
  public func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation {
    base.observe(observer)
  }
}
