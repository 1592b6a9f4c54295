package import CryptoCore
package import StorageCore

package import struct FoundationEssentials.URL

/// Sealed records in a property list; what ``UserDefaultsStorage`` stores them through.
///
/// At most once in 25 microseconds a read looks at the file, by stat(2): a write returns only when
/// its file has been in its place for longer, so that a read that starts after the write, in any
/// process, sees it. Delegates of one suite in a process share their memory.
package final class DefaultsDelegate: RecordPlace {
  /// How long a write waits for other processes unless said otherwise.
  package static let standardDeadline: Duration = .seconds(5)
  /// How long a look at the file counts unless said otherwise, in nanoseconds.
  package static let standardTrust = SuiteFile.standardTrust

  /// When a write is on disk.
  package let durability: DefaultsDurability
  package let deadline: Duration
  private let handle: PlaceHandle<Suite>

  /// The delegate of a suite.
  ///
  /// The file is not looked at before the first use.
  ///
  /// - Parameters:
  ///   - suiteName: 1 to 200 bytes without a slash; with any other name, every use throws
  ///     `invalid`.
  ///   - durability: when a write is on disk.
  ///   - deadline: how long a write waits for other processes before it throws `busy`.
  package convenience init(
    suiteName: String, durability: DefaultsDurability = .immediate,
    deadline: Duration = standardDeadline
  ) {
    self.init(durability: durability, deadline: deadline) { () throws(StorageError) in
      try SuiteName.validate(suiteName)
      return try SuiteName.path(of: suiteName, in: StandardFolders.configuration())
    }
  }

  /// The delegate of a suite's file at any place.
  ///
  /// - Parameters:
  ///   - url: an absolute file URL of a file `NAME.secure.plist`; with any other name, every use
  ///     throws `invalid`.
  ///   - durability: when a write is on disk.
  ///   - deadline: how long a write waits for other processes before it throws `busy`.
  package convenience init(
    at url: URL, durability: DefaultsDurability = .immediate,
    deadline: Duration = standardDeadline
  ) {
    let path = url.isFileURL ? url.path(percentEncoded: false) : ""
    self.init(durability: durability, deadline: deadline) { () throws(StorageError) in
      let name = FilePath.name(of: path)
      guard path.hasPrefix("/"), name.hasSuffix(SuiteName.ending) else {
        throw StorageError(
          .invalid,
          "a suite's file has an absolute path, and its name ends in \(SuiteName.ending)",
          path: path)
      }
      return try SuiteName.path(
        of: String(name.dropLast(SuiteName.ending.count)), in: FilePath.folder(of: path))
    }
  }

  /// The delegate of a suite in a folder of the caller's choice.
  ///
  /// A look at the file counts for `trust` nanoseconds; all processes that share the file must use
  /// the same number.
  package convenience init(
    folder: String, suiteName: String, durability: DefaultsDurability = .immediate,
    deadline: Duration = standardDeadline, trust: Int64 = standardTrust
  ) {
    self.init(durability: durability, deadline: deadline, trust: trust) {
      () throws(StorageError) in
      try SuiteName.path(of: suiteName, in: folder)
    }
  }

  /// The delegate of the file that `path` gives at the first use, with the access that `use` gives
  /// then.
  init(
    durability: DefaultsDurability, deadline: Duration = standardDeadline,
    trust: Int64 = standardTrust,
    use: @escaping @Sendable () -> StoreAccess = { .readWrite },
    path: @escaping @Sendable () throws(StorageError) -> String
  ) {
    self.durability = durability
    self.deadline = deadline
    handle = PlaceHandle(use: use) { () throws(StorageError) in
      SuiteRegistry.suite(at: try path(), trust: trust)
    }
  }

  /// Lends an object to a call that throws without counting a reference, as
  /// `_withUnsafeGuaranteedRef` does.
  @inline(__always)
  private static func uncounted<Result>(
    _ suite: Unmanaged<Suite>, _ body: (Suite) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    var failure: StorageError?
    let result: Result? = unsafe suite._withUnsafeGuaranteedRef { suite in
      do throws(StorageError) {
        return try body(suite)
      } catch {
        failure = error
        return nil
      }
    }
    if let result { return result }
    throw failure!
  }

  // MARK: - The place

  /// True: a write replaces the whole file.
  package var writesAllRecords: Bool { true }

  /// What the program may do here.
  package var allowance: StoreAccess { handle.allowance }

  /// From now on no storage of this process makes the suite.
  package func makeNothing() { handle.makeNothing() }

  /// The identity of the suite, shared by all delegates of its file; nil when there is no place to
  /// store at.
  package var identity: DelegateIdentity? { handle.identity }

  // MARK: - Header and records

  /// The name of the file: a suite's file does not open in the place of another suite's.
  ///
  /// - Throws: `StorageError` when there is no place to store at.
  package func place() throws(StorageError) -> String {
    FilePath.name(of: try handle.object().path)
  }

  /// The path of the file, or nil when there is no place to store at.
  package var location: String? { handle.location }

  /// The header and its version.
  ///
  /// - Throws: `StorageError` when the file can't be read.
  package func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64) {
    try handle.object().read { ($0.contents.header, $0.headerVersion) }
  }

  /// Lets `body` change the header, alone among all processes and threads.
  ///
  /// - Throws: `StorageError`, or what `body` throws; the header is then unchanged, except with
  ///   the code `outcomeUnknown`.
  package func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    try requireWritable()
    return try handle.object().updateHeader(waiting: deadline, body)
  }

  /// The record under `name`, and the version of the header that was current when it was read.
  ///
  /// - Throws: `StorageError` when the file can't be read.
  package func lookup(
    _ name: NameHash
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) {
    try handle.object().read { ($0.contents.records[name], $0.headerVersion) }
  }

  /// Copies a record out of memory.
  package func copyRecord(
    _ name: NameHash, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> RecordCopy? {
    guard let suite = unsafe handle.uncounted else { return nil }
    return try unsafe Self.uncounted(suite) { (suite) throws(StorageError) in
      try unsafe suite.copy(name, into: buffer)
    }
  }

  /// Makes all of `writes` or none, in one atomic step, if the header has the given version.
  ///
  /// - Throws: `StorageError`; nothing is then changed, except with the code `outcomeUnknown`.
  package func commit(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome {
    if writes.contains(where: { !$0.isCheck }) { try requireWritable() }
    let isConditional = writes.contains { $0.condition != .always }
    return try handle.object().commit(
      writes, headerVersion: headerVersion, waiting: deadline,
      isSynchronized: durability == .immediate || isConditional)
  }

  /// Removes the suite's file and its lock file, whatever they contain.
  ///
  /// - Throws: `StorageError`: `readOnly`, `denied` for a folder, a link or another user's file,
  ///   `busy` when another process used the suite until the deadline.
  package func discard() throws(StorageError) {
    try requireWritable()
    try handle.object().discard(waiting: deadline)
  }

  /// The names of all records.
  ///
  /// - Throws: `StorageError` when the file can't be read.
  package func names() throws(StorageError) -> [NameHash] {
    try handle.object().read { Array($0.contents.records.keys) }
  }

  // MARK: - All records

  /// All records, from one state of the file.
  package func allRecords() throws(StorageError) -> AllRecords? {
    try handle.object().read {
      AllRecords(records: $0.contents.records, headerVersion: $0.headerVersion)
    }
  }

  // MARK: - Changes

  /// Calls `observer` for each change, in order, under the delegate's lock.
  ///
  /// The first observer starts a thread that watches for other processes' changes; the last one's
  /// end stops it. When there is no place to store at, `observer` is never called.
  package func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation
  {
    do throws(StorageError) {
      return try handle.object().observe(observer)
    } catch {
      return ChangeObservation {}
    }
  }
}

extension DefaultsDelegate: WaitingPlace {}
