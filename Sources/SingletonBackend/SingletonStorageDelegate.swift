public import CryptoCore
public import StorageCore

/// Sealed records in memory, for as long as the delegate lives.
///
/// Any thread may use it. It blocks for the time of a dictionary access.
public final class SingletonStorageDelegate: RecordPlace {
  /// A name as the key of a dictionary.
  ///
  /// Its bytes serve as the hash. They are uniform under a secret key, and what is in memory came
  /// from this process alone, so nobody else picks names that collide. The standard hasher takes as
  /// long as the rest of a look-up: `make bench` shows it in reads and writes.
  private struct Key: Hashable {
    let name: NameHash

    static func == (left: Key, right: Key) -> Bool { left.name == right.name }

    func hash(into hasher: inout Hasher) { hasher.combine(name) }

    // Hashable's own way past the hasher. The seed differs from dictionary to dictionary, and is
    // mixed in so that one can be filled in the order of another.
    func _rawHashValue(seed: Int) -> Int {
      let mixed = (name.firstWord ^ UInt64(bitPattern: Int64(seed))) &* 0x9E37_79B9_7F4A_7C15
      return Int(truncatingIfNeeded: mixed ^ (mixed >> 32))
    }
  }

  private struct State: ~Copyable {
    var records = RecordTable<Key, TableRecord>()
    var header: [UInt8]?
    var version: UInt64 = 1
  }
  private let state = SharedLock(State())
  private let observers = ChangeObservers()

  /// An empty delegate.
  public init() {}

  /// The header and its version.
  public func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64) {
    state.read { ($0.header, $0.version) }
  }

  /// Lets `body` change the header, under the lock.
  public func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    try state.withLock { (state) throws(StorageError) in
      var header = state.header
      let records = state.records.all
      var held = HeldRecords(isEmpty: records.isEmpty) { (each) throws(StorageError) in
        for (key, record) in records { each(key.name, record.bytes) }
      }
      held.provingAll = { true }  // nobody else can hide one
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
    state.read { ($0.records[Key(name: name)]?.bytes, $0.version) }
  }

  /// Copies a record out of memory.
  public func copyRecord(
    _ name: NameHash, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> RecordCopy? {
    state.read { state in
      guard let record = unsafe state.records.uncounted(Key(name: name)) else {
        return RecordCopy(absentUnder: state.version)
      }
      return unsafe record._withUnsafeGuaranteedRef { record in
        unsafe RecordCopy(of: record.bytes, into: buffer, headerVersion: state.version)
      }
    }
  }

  /// Makes all of `writes` or none.
  public func commit(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome {
    state.withLock { state in
      guard state.version == headerVersion else { return .headerChanged }
      for write in writes where !write.isAllowed(over: state.records[Key(name: write.name)]?.bytes)
      {
        return .conditionFailed
      }
      for write in writes where !write.isCheck { apply(write, to: &state) }
      return .committed
    }
  }

  /// Makes one write.
  public func commit(
    _ write: RecordWrite, headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome {
    state.withLock { state in
      guard state.version == headerVersion else { return .headerChanged }
      switch write.condition {
      case .always: break
      default:
        guard write.isAllowed(over: state.records[Key(name: write.name)]?.bytes) else {
          return .conditionFailed
        }
      }
      if !write.isCheck { apply(write, to: &state) }
      return .committed
    }
  }

  @inline(__always)
  private func apply(_ write: RecordWrite, to state: inout State) {
    if let record = write.record {
      state.records.update(TableRecord(record), for: Key(name: write.name))
    } else {
      state.records.remove(Key(name: write.name))
    }
    if !observers.isEmpty {
      observers.notify(
        RecordChange(name: write.name, record: write.record, headerVersion: state.version))
    }
  }

  /// The names of all records.
  public func names() throws(StorageError) -> [NameHash] {
    state.read { $0.records.keys.map(\.name) }
  }

  /// All records at one moment.
  public func allRecords() throws(StorageError) -> AllRecords? {
    state.read { state in
      var records: [NameHash: [UInt8]] = [:]
      for (key, record) in state.records.all { records[key.name] = record.bytes }
      return AllRecords(records: records, headerVersion: state.version)
    }
  }

  /// Calls `observer` for each change, in order, under the delegate's lock.
  public func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation {
    observers.add(observer)
  }
}
