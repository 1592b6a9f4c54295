public import CryptoCore
internal import Glibc
internal import SingletonBackend
public import StorageCore

/// A working delegate in memory that fails when it is told to: for tests of what a program does
/// when its storage is locked, damaged, slow or full.
public final class FaultyDelegate: KeysetDelegate, ObservableDelegate {
  /// What goes wrong.
  public enum Fault: Sendable {
    /// The call throws this and does nothing, as with `StorageError(.locked, "...")`.
    case failure(StorageError)
    /// A record that is read has a bit flipped; writes are not affected.
    case corruption
    /// The call takes this much longer.
    case delay(Duration)
  }

  /// Which calls a fault is for.
  public struct Operations: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: Int
    /// Operations of these bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Look-ups of records.
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

  /// A delegate that works.
  public init() {}

  /// Makes calls fail from now on.
  ///
  /// - Parameters:
  ///   - operations: which calls.
  ///   - fault: how they fail.
  ///   - skipping: how many calls still work.
  ///   - times: how many calls fail after that.
  public func fail(
    _ operations: Operations, with fault: Fault, skipping: Int = 0, times: Int = .max
  ) {
    plans.withLock {
      $0.append(
        Plan(fault: fault, operations: operations, skipped: skipping, remaining: times))
    }
  }

  /// As what is behind it, unless a fault delays it.
  public var asksOthers: Bool { base.asksOthers }

  /// Makes everything work again.
  public func recover() {
    plans.withLock { $0 = [] }
  }

  /// Carries out the faults for a call; says whether a record is to be corrupted.
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
        // The call is to be slow: that is the fault that was asked for.
        usleep(UInt32(clamping: microseconds + attoseconds / 1_000_000_000_000))
      }
    }
    return corrupts
  }

  /// The record under `name`, or what the fault makes of it.
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
