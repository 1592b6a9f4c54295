public import CryptoCore
public import StorageCore

public import struct Foundation.URL

/// Sealed records in one file that loses nothing: SQLite with a write-ahead log.
///
/// A write is durable before it returns, also against a loss of power; threads that write at the
/// same time share the sync. Reads come from memory, without a system call, and see every write
/// that was done before they began, whatever process did it. Any number of processes may share the
/// file. Delegates of one file in a process share their memory. docs/file-format.md has the format.
public final class VaultDelegate: CensusDelegate, ObservableDelegate {
  /// How long a call waits for other processes unless said otherwise.
  public static let standardDeadline: Duration = .seconds(5)

  /// What the file is opened for.
  public let access: VaultAccess
  let deadline: Duration
  private let path: @Sendable () throws(StorageError) -> String
  private let resolved = SetOnce<VaultEngine>()

  /// The delegate of a file, which is made at the first write.
  ///
  /// Nothing is looked at before the first use.
  ///
  /// - Parameters:
  ///   - url: an absolute file URL; any other is the error `invalid` at every use. A missing folder
  ///     is made for the owner alone.
  ///   - access: what it is opened for.
  ///   - deadline: how long a call waits for other processes before it is the error `busy`.
  public convenience init(
    at url: URL, access: VaultAccess = .readWrite, deadline: Duration = standardDeadline
  ) {
    let path = url.isFileURL ? url.path(percentEncoded: false) : ""
    self.init(access: access, deadline: deadline) { () throws(StorageError) in path }
  }

  /// The delegate of the file that `path` gives at the first use.
  init(
    access: VaultAccess, deadline: Duration = standardDeadline,
    path: @escaping @Sendable () throws(StorageError) -> String
  ) {
    self.access = access
    self.deadline = deadline
    self.path = path
  }

  /// The vault, for whoever administers it.
  func vault() throws(StorageError) -> VaultEngine {
    if let vault = resolved.load() { return vault }
    let file = try VaultFile(try path())
    return resolved.storeIfNil(VaultRegistry.vault(of: file, access))
  }

  // MARK: - KeysetDelegate

  /// The path of the file, or nil when it can't be known.
  public var location: String? {
    do throws(StorageError) { return try vault().file.path } catch { return nil }
  }

  /// The header and its version.
  ///
  /// - Throws: `StorageError` when the file can't be read.
  public func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64) {
    try vault().header(waiting: deadline)
  }

  /// Lets `body` change the header, alone among all processes and threads.
  ///
  /// What the old header said is gone from the file and its log afterwards.
  ///
  /// - Throws: `StorageError`, or what `body` throws; the header is then unchanged, except with
  ///   the code `outcomeUnknown`.
  public func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    try vault().updateHeader(waiting: deadline, body)
  }

  /// Takes the keys of the manifest.
  public func adopt(_ keys: ManifestKeys, headerVersion: UInt64) {
    resolved.load()?.memory.withLock { $0.adopt(keys, headerVersion: headerVersion) }
  }

  /// The record under `name`, and the version of the header that was current when it was read.
  ///
  /// - Throws: `StorageError` when the file can't be read.
  public func lookup(
    _ name: NameHash
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) {
    // No reference is counted: there are weak ones to a vault, which make that slow, and `make bench`
    // shows it in every read.
    let known = unsafe resolved.uncounted?._withUnsafeGuaranteedRef { $0.known(name) }
    if let known { return known }
    return try vault().lookup(name, waiting: deadline)
  }

  /// Makes all of `writes` or none, in one atomic step, if the header is that of the version.
  ///
  /// - Throws: `StorageError`; nothing is then changed, except with the code `outcomeUnknown`.
  public func commit(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome {
    try vault().commit(writes, headerVersion: headerVersion, waiting: deadline)
  }

  /// The names of all records.
  ///
  /// - Throws: `StorageError` when the file can't be read.
  public func names() throws(StorageError) -> [NameHash] {
    try vault().names(waiting: deadline)
  }

  // MARK: - CensusDelegate

  package func census() throws(StorageError) -> RecordCensus? {
    try vault().census(waiting: deadline)
  }

  package func strays(among names: Set<NameHash>) throws(StorageError) -> [NameHash?] {
    try vault().strays(among: names, waiting: deadline)
  }

  // MARK: - ObservableDelegate

  /// Calls `observer` for each change, in order, under the delegate's lock.
  ///
  /// The first observer starts a thread that waits for other processes' changes; the last one's end
  /// stops it. When there is no place to store at, nothing is ever told.
  public func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> Observation {
    do throws(StorageError) {
      return try vault().observe(observer)
    } catch {
      return Observation {}
    }
  }
}
