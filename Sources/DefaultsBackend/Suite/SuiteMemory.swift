internal import CryptoCore
internal import Dispatch
internal import StorageCore
internal import Synchronization

/// A process's memory of a suite.
///
/// Readers hold its lock while they copy one record, and do no I/O.
struct SuiteMemory: ~Copyable {
  /// The file's contents at the last look.
  ///
  /// All of it is durable.
  private(set) var contents = SuiteContents()
  /// The records of `contents` that were read before.
  ///
  /// For readers on all cores, since taking a record out of `contents` counts a reference to it.
  private var known = RecordTable<NameHash, TableRecord>()
  /// The state of the file that `contents` was read from; nil when the file must be looked at
  /// again.
  private(set) var stamp: SuiteFile.Stamp?
  private var held: SuiteFile.Held?
  /// When the file was last found to match `stamp`, or an earlier time; 0 for never.
  ///
  /// Readers may raise it at the same time; `stamp` can't change while a reader is in its lane.
  private let seen = Atomic<Int64>(0)
  /// The error that makes the file of `stamp` unusable.
  private var failure: StorageError?
  /// Whether observers were told that the file can't be read, and not yet that it can be read
  /// again.
  var isFailureTold = false
  /// Changes whenever the header does.
  private(set) var headerVersion: UInt64 = 1

  /// Whether a thread of this process holds the file lock and is writing.
  ///
  /// `contents` was compared with the file under that lock, so nobody else can have changed it. It
  /// is current, and a different file is our own unfinished change.
  var isCommitting = false

  /// Writes that were acknowledged but are not in the file yet.
  var pending = PendingWrites()
  /// How often acknowledged writes had to be dropped, and how many of these losses a flush has
  /// reported.
  var losses = (count: 0, told: 0)
  /// Keeps headers from changing while writes are pending.
  var lease: HeaderLock?
  /// Whether a thread of this process wants to change the header.
  var refusesLeases = false

  /// Whether `contents` equals the file, given the file's state at a time or later.
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

  /// Whether `contents` still counts as current, because of a look at most `trust` nanoseconds ago.
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

  /// What a reader finds in `contents` when no writes wait.
  enum Copied {
    case copy(RecordCopy)
    /// The record exists but was not read before: after ``learn(_:)`` it can be copied.
    case unknown
    /// The record is too long for the buffer, or writes wait that may replace it.
    case other
  }

  /// Copies the record of a name without counting a reference to it.
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

  /// Makes ``copy(_:into:)`` find a record from now on, until the contents are replaced.
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

  /// Requires a new look at the file.
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
  /// The version of the header that the writes were sealed under.
  private(set) var headerVersion: UInt64 = 0
  private(set) var sequence: UInt64 = 0
  /// When the flushes begin that are scheduled: each sooner than those before it, so they are few.
  private var scheduled: [DispatchTime] = []
  /// Whether the last attempt to write them failed.
  var hasFailed = false

  /// Plans a flush within `interval`.
  ///
  /// - Returns: when the caller must have one begin, or nil if one begins so soon already.
  mutating func plan(within interval: Duration) -> DispatchTime? {
    let (seconds, attoseconds) = interval.components
    let time =
      DispatchTime.now()
      + .nanoseconds(
        Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
    guard !scheduled.contains(where: { $0 <= time }) else { return nil }
    scheduled.append(time)
    return time
  }

  /// Notes that a planned flush begins.
  mutating func begin(planned time: DispatchTime) { scheduled.removeAll { $0 == time } }

  mutating func add(_ write: RecordWrite, headerVersion: UInt64) {
    sequence += 1
    self.headerVersion = headerVersion
    writes[write.name] = Write(record: write.record, sequence: sequence)
  }

  /// Drops the writes that are in the file now: those made no later than `sequence`.
  mutating func drop(upTo sequence: UInt64) {
    hasFailed = false
    writes = self.sequence == sequence ? [:] : writes.filter { $0.value.sequence > sequence }
  }
}
