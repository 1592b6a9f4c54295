internal import CryptoCore
internal import StorageCore
internal import Synchronization

/// A process's memory of a suite.
///
/// Readers hold its lock while they copy one record, and do no I/O.
struct SuiteMemory: ~Copyable {
  /// Whether `contents` survives a power cut.
  var isDurable = true
  /// The file's contents at the last look.
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
  var isFailureReported = false
  /// Changes whenever the header does.
  private(set) var headerVersion: UInt64 = 1

  /// Whether a thread of this process holds the file lock and is writing.
  ///
  /// `contents` was compared with the file under that lock, so nobody else can have changed it. It
  /// is current, and a different file is our own unfinished change.
  var isCommitting = false

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

  /// What a reader finds in `contents`.
  enum Copied {
    case copy(RecordCopy)
    /// The record exists but was not read before: after ``learn(_:)`` it can be copied.
    case unknown
    /// The record is too long for the buffer.
    case other
  }

  /// Copies the record of a name without counting a reference to it.
  func copy(_ name: NameHash, into buffer: UnsafeMutableRawBufferPointer) -> Copied {
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

  /// Takes over a state of the file.
  mutating func adopt(_ loaded: SuiteFile.Loaded) {
    stamp = loaded.stamp
    held = loaded.held
    seen.store(0, ordering: .relaxed)
    switch loaded.contents {
    case .success(let contents):
      if contents.header != self.contents.header { headerVersion += 1 }
      self.contents = contents
      isDurable = true
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
