package import CryptoCore
package import StorageCore

package import struct FoundationEssentials.URL

/// Sealed records in one file; what ``VaultStorage`` stores them through.
///
/// All delegates of one file in a process share their memory.
package final class VaultDelegate: ManifestPlace {
  /// How long a call waits for other processes unless said otherwise.
  package static let standardDeadline: Duration = .seconds(5)

  /// What the program may do with a vault, and whom it trusts with the folder.
  struct Use: Sendable {
    let allowance: StoreAccess
    let trust: FolderTrust

    /// What `SecureStorage.bootstrap` says; from the first call on, a bootstrap is too late.
    static let bootstrapped: @Sendable () -> Use = {
      let configuration = SecureStorage.configuration
      return Use(allowance: configuration.access, trust: configuration.folderTrust)
    }

    static func of(_ access: StoreAccess, _ trust: FolderTrust) -> @Sendable () -> Use {
      { Use(allowance: access, trust: trust) }
    }
  }

  package let deadline: Duration
  private let use: @Sendable () -> Use
  private let handle: PlaceHandle<VaultEngine>

  /// The delegate of a file; the first write creates a missing file.
  ///
  /// Nothing is read before the first use.
  ///
  /// - Parameters:
  ///   - url: an absolute file URL; with any other URL, every use throws `invalid`. A missing
  ///     folder is created for the owner alone.
  ///   - access: what the file is opened for.
  ///   - folderTrust: who may write to its folder, besides this user and root.
  ///   - deadline: how long a call waits for other processes before it throws `busy`.
  package convenience init(
    at url: URL, access: StoreAccess = .readWrite, folderTrust: FolderTrust = .owner,
    deadline: Duration = standardDeadline
  ) {
    let path = url.isFileURL ? url.path(percentEncoded: false) : ""
    self.init(Use.of(access, folderTrust), deadline: deadline) { () throws(StorageError) in path }
  }

  /// The delegate of the file that `path` returns at the first use, opened as `use` says then.
  init(
    _ use: @escaping @Sendable () -> Use, deadline: Duration = standardDeadline,
    path: @escaping @Sendable () throws(StorageError) -> String
  ) {
    self.use = use
    self.deadline = deadline
    let find: @Sendable () throws(StorageError) -> VaultEngine = { () throws(StorageError) in
      let use = use()
      return VaultRegistry.vault(
        of: try VaultFile(try path(), use.trust), isReadOnly: use.allowance == .readOnly)
    }
    handle = PlaceHandle(use: { use().allowance }, find: find)
  }

  /// Who may write to the vault's folder.
  var folderTrust: FolderTrust { use().trust }

  /// The vault, which all delegates of the file share.
  func vault() throws(StorageError) -> VaultEngine { try handle.object() }

  // MARK: - The place

  /// What the program may do here.
  ///
  /// For a standard vault, `SecureStorage.bootstrap` says it; asking for it makes a later bootstrap
  /// fail.
  package var allowance: StoreAccess { handle.allowance }

  /// From now on no storage of this process creates the vault.
  package func makeNothing() { handle.makeNothing() }

  /// Identifies the vault; delegates with the same file and access share it.
  ///
  /// Nil when the path can't be known.
  package var identity: DelegateIdentity? { handle.identity }

  // MARK: - Header and records

  /// The path of the file, or nil when it can't be known.
  package var location: String? { handle.location }

  /// The header and its version.
  ///
  /// - Throws: `StorageError` when the file can't be read.
  package func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64) {
    try vault().header(waiting: deadline)
  }

  /// Lets `body` change the header, while no other process or thread writes.
  ///
  /// Afterwards the old header is wiped from the file and its log.
  ///
  /// - Throws: `StorageError`, or what `body` throws; the header is then unchanged, except with
  ///   the code `outcomeUnknown`.
  package func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    try vault().writer.updateHeader(waiting: deadline, body)
  }

  /// Takes the keys of the manifest for a version of the header.
  package func adopt(_ keys: ManifestKeys, headerVersion: UInt64) {
    handle.known?.memory.withLock { $0.adopt(keys, headerVersion: headerVersion) }
  }

  /// The record under `name`, and the version of the header that was current when it was read.
  ///
  /// - Throws: `StorageError` when the file can't be read.
  package func lookup(
    _ name: NameHash
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) {
    // No reference is counted: weak references to the vault make counting slow, which `make bench`
    // shows in every read.
    let known = unsafe handle.uncounted?._withUnsafeGuaranteedRef { $0.known(name) }
    if let known { return known }
    return try vault().lookup(name, waiting: deadline)
  }

  /// Copies a record out of memory.
  package func copyRecord(
    _ name: NameHash, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> RecordCopy? {
    unsafe handle.uncounted?._withUnsafeGuaranteedRef { unsafe $0.copy(name, into: buffer) }
  }

  /// Makes all of `writes` or none, in one atomic step, if the header has the given version.
  ///
  /// - Throws: `StorageError`; nothing is then changed, except with the code `outcomeUnknown`.
  package func commit(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome {
    try vault().writer.commit(writes, headerVersion: headerVersion, waiting: deadline)
  }

  /// Makes one write, in one atomic step, if the header has the given version.
  ///
  /// - Throws: `StorageError`; nothing is then changed, except with the code `outcomeUnknown`.
  package func commit(
    _ write: RecordWrite, headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome {
    try vault().writer.commit(write, headerVersion: headerVersion, waiting: deadline)
  }

  /// Removes the vault's file and those beside it, whatever they contain.
  ///
  /// A vault that other programs have open is emptied in its place, and its file stays.
  ///
  /// - Throws: `StorageError`: `readOnly`, `denied` for a folder, a link or another user's file,
  ///   `busy` when the file is broken and another program has it open.
  package func discard() throws(StorageError) {
    try requireWritable()
    try vault().writer.discard(waiting: deadline)
  }

  /// Leaves an empty vault in the place of this one, or nothing where nothing was.
  ///
  /// - Parameter isMaking: whether an empty vault is made where nothing was.
  /// - Throws: `StorageError`: as ``discard()``.
  func empty(isMaking: Bool) throws(StorageError) {
    try requireWritable()
    try vault().writer.empty(waiting: deadline, isMaking: isMaking)
  }

  /// The names of all records.
  ///
  /// - Throws: `StorageError` when the file can't be read.
  package func names() throws(StorageError) -> [NameHash] {
    try vault().names(waiting: deadline)
  }

  // MARK: - All records

  /// All records, from one state of the file.
  package func allRecords() throws(StorageError) -> AllRecords? {
    try vault().allRecords(waiting: deadline)
  }

  // MARK: - Missing records

  package func census() throws(StorageError) -> RecordCensus? {
    try vault().census(waiting: deadline)
  }

  // MARK: - Forged records

  package var accountCount: Int { Manifest.bucketCount }

  package func accounts(
    _ indices: Range<Int>, headerVersion: UInt64,
    opens: (NameHash, [UInt8]) throws(StorageError) -> Bool
  ) throws(StorageError) -> [RecordAccount]? {
    try vault().accounts(
      indices, headerVersion: headerVersion, waiting: deadline, opens: opens)
  }

  // MARK: - Restored states

  package var restoration: (number: Int, root: [UInt8])? { handle.known?.seen.restoration }

  package func wasRestored(
    _ keys: ManifestKeys, headerVersion: UInt64
  ) throws(StorageError) -> Bool {
    try vault().wasRestored(keys, headerVersion: headerVersion, waiting: deadline)
  }

  // MARK: - Changes

  /// Calls `observer` for each change, in order, under the delegate's lock.
  ///
  /// The first observer starts a thread that waits for other processes' changes; the thread ends
  /// with the last observer. If the path can't be known, the observer is never called.
  package func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation
  {
    do throws(StorageError) {
      let vault = try vault()
      return vault.observers.add(observer, of: vault)
    } catch {
      return ChangeObservation {}
    }
  }
}

extension VaultDelegate: WaitingPlace {}
