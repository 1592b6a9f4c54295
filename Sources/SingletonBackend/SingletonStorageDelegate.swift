public import CryptoCore
public import StorageCore

/// Sealed records in memory, for as long as the delegate lives.
///
/// Any thread may use it. It blocks for the time of a dictionary access.
public final class SingletonStorageDelegate: KeysetDelegate, ObservableDelegate {
  private struct State {
    var records: [NameHash: [UInt8]] = [:]
    var header: [UInt8]?
    var version: UInt64 = 1
  }
  private let state = Lock(State())
  private let observers = ChangeObservers()

  /// An empty delegate.
  public init() {}

  /// The header and its version.
  public func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64) {
    state.withLock { ($0.header, $0.version) }
  }

  /// Lets `body` change the header, under the lock.
  public func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    try state.withLock { (state) throws(StorageError) in
      var header = state.header
      let records = state.records
      let held = HeldRecords(isEmpty: records.isEmpty) { (each) throws(StorageError) in
        for (name, record) in records { each(name, record) }
      }
      try body(&header, held)
      if header != state.header {
        state.header = header
        state.version += 1
      }
      return state.version
    }
  }

  /// The record under `name`, and the version of the header.
  public func lookup(
    _ name: NameHash
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) {
    state.withLock { ($0.records[name], $0.version) }
  }

  /// Makes all of `writes` or none.
  public func commit(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome {
    state.withLock { state in
      guard state.version == headerVersion else { return .headerChanged }
      guard writes.allSatisfy({ $0.isAllowed(over: state.records[$0.name]) }) else {
        return .conditionFailed
      }
      for write in writes { apply(write, to: &state) }
      return .committed
    }
  }

  /// Makes one write.
  public func commit(
    _ write: RecordWrite, headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome {
    state.withLock { state in
      guard state.version == headerVersion else { return .headerChanged }
      if case .always = write.condition {
      } else {
        guard write.isAllowed(over: state.records[write.name]) else { return .conditionFailed }
      }
      apply(write, to: &state)
      return .committed
    }
  }

  @inline(__always)
  private func apply(_ write: RecordWrite, to state: inout State) {
    if let record = write.record {
      state.records[write.name] = record
    } else {
      state.records.removeValue(forKey: write.name)
    }
    if !observers.isEmpty {
      observers.notify(RecordChange(name: write.name, record: write.record))
    }
  }

  /// The names of all records.
  public func names() throws(StorageError) -> [NameHash] {
    state.withLock { Array($0.records.keys) }
  }

  /// Calls `observer` for each change, in order, under the delegate's lock.
  public func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> Observation {
    observers.add(observer)
  }
}
