internal import CryptoCore
internal import StorageCore
internal import Synchronization

/// What a process knows of a suite.
///
/// Readers hold its lock while they copy one record, and do no I/O.
struct SuiteMemory: ~Copyable {
  /// What the file held when it was looked at last.
  ///
  /// All of it is durable.
  private(set) var contents = SuiteContents()
  /// The records of `contents` that were read before.
  ///
  /// For readers on all cores: who takes a record out of `contents` counts a reference to it.
  private var known = RecordTable<NameHash, TableRecord>()
  /// The state of the file that `contents` is of; nil when the file has to be looked at again.
  private(set) var stamp: SuiteFile.Stamp?
  private var held: SuiteFile.Held?
  /// When the file was last found to be that of `stamp`, or earlier; 0 for not yet.
  ///
  /// Readers raise it at the same time; `stamp` can't change while one of them is in its lane.
  private let seen = Atomic<Int64>(0)
  /// Why the file of `stamp` can't be used.
  private var failure: StorageError?
  /// Whether observers know that the file could not be read, and not yet that it can be again.
  var isFailureTold = false
  /// Changes whenever the header does.
  private(set) var headerVersion: UInt64 = 1

  /// Whether a thread of this process holds the file lock and is writing.
  ///
  /// `contents` was compared with the file under that lock, so nobody else can have changed it: it
  /// is current, and what the file looks like meanwhile is our own half of a change.
  var isCommitting = false

  /// Writes that callers were told of and that are not in the file yet.
  var pending = PendingWrites()
  /// How often acknowledged writes had to be dropped, and up to where a flush has said so.
  var losses = (count: 0, told: 0)
  /// Keeps headers from changing while writes are pending.
  var lease: HeaderLock?
  /// Whether a thread of this process wants to change the header.
  var refusesLeases = false

  /// Whether `contents` is what the file holds, given the state that it had at a time, or later.
  ///
  /// - Throws: why the file can't be used.
  func isCurrent(
    at stamp: SuiteFile.Stamp, seen time: MonotonicTime
  ) throws(StorageError) -> Bool {
    if isCommitting { return true }
    guard self.stamp == stamp else { return false }
    seen.max(time.nanoseconds, ordering: .relaxed)
    try check()
    return true
  }

  /// Whether `contents` still counts as what the file holds, by a look of at most `trust`
  /// nanoseconds ago.
  ///
  /// - Throws: why the file can't be used.
  func isCurrent(at time: MonotonicTime, trusting trust: Int64) throws(StorageError) -> Bool {
    let seen = seen.load(ordering: .relaxed)
    guard seen > 0, time.nanoseconds - seen < trust else { return false }
    try check()
    return true
  }

  /// - Throws: why the file can't be used.
  func check() throws(StorageError) {
    if let failure { throw failure }
  }

  /// The record under `name`, as this process sees it.
  func record(for name: NameHash) -> [UInt8]? {
    if !hasForeignPending, let write = pending.writes[name] { return write.record }
    return contents.records[name]
  }

  /// What a reader finds in `contents`, when no writes wait.
  enum Copied {
    case copy(RecordCopy)
    /// The record is there and was not read before: ``learn(_:)`` has it copied the next time.
    case unknown
    /// The record is too long for the buffer, or writes wait that may replace it.
    case other
  }

  /// Copies the record of a name without a reference to it.
  func copy(_ name: NameHash, into buffer: UnsafeMutableRawBufferPointer) -> Copied {
    guard pending.writes.isEmpty else { return .other }
    guard let record = unsafe known.uncounted(name) else {
      return contents.records[name] == nil
        ? .copy(RecordCopy(absentUnder: headerVersion)) : .unknown
    }
    return unsafe record._withUnsafeGuaranteedRef { record in
      unsafe RecordCopy(of: record.bytes, into: buffer, headerVersion: headerVersion)
        .map { .copy($0) } ?? .other
    }
  }

  /// Has ``copy(_:into:)`` find a record from now on, until the contents are replaced.
  mutating func learn(_ name: NameHash) {
    guard let record = contents.records[name] else { return }
    known.update(TableRecord(record), for: name)
  }

  /// Whether writes wait that were sealed for a file which is gone: they will be dropped.
  var hasForeignPending: Bool {
    !pending.writes.isEmpty && pending.headerVersion != headerVersion
  }

  /// The names of all records, as this process sees them.
  var names: [NameHash] {
    guard !pending.writes.isEmpty, !hasForeignPending else {
      return Array(contents.records.keys)
    }
    return contents.records.keys.filter { pending.writes[$0] == nil }
      + pending.writes.filter { $0.value.record != nil }.keys
  }

  /// All records, as this process sees them.
  var allRecords: [NameHash: [UInt8]] {
    guard !pending.writes.isEmpty, !hasForeignPending else { return contents.records }
    var records = contents.records
    for (name, write) in pending.writes { records[name] = write.record }
    return records
  }

  /// Takes over a state of the file.
  mutating func adopt(_ loaded: SuiteFile.Loaded) {
    stamp = loaded.stamp
    held = loaded.held
    seen.store(0, ordering: .relaxed)
    switch loaded.contents {
    case .success(let contents):
      if contents.header != self.contents.header { headerVersion += 1 }
      self.contents = contents
      known.removeAll()
      failure = nil
    case .failure(let error):
      failure = error
    }
  }

  /// Has the file looked at again.
  mutating func forget() {
    stamp = nil
    held = nil
    seen.store(0, ordering: .relaxed)
    failure = nil
  }
}

/// Writes of coalescing callers that are not in the file yet.
struct PendingWrites {
  struct Write {
    let record: [UInt8]?
    /// Tells a write from a later one to the same name.
    let sequence: UInt64
  }

  private(set) var writes: [NameHash: Write] = [:]
  /// The header that they were sealed under.
  private(set) var headerVersion: UInt64 = 0
  private(set) var sequence: UInt64 = 0
  /// Whether a flush has been scheduled.
  var isScheduled = false
  /// Whether the last attempt to write them failed.
  var hasFailed = false

  mutating func add(_ write: RecordWrite, headerVersion: UInt64) {
    sequence += 1
    self.headerVersion = headerVersion
    writes[write.name] = Write(record: write.record, sequence: sequence)
  }

  /// Drops those that are in the file now: the ones made no later than `sequence`.
  mutating func drop(upTo sequence: UInt64) {
    hasFailed = false
    writes = self.sequence == sequence ? [:] : writes.filter { $0.value.sequence > sequence }
  }
}
