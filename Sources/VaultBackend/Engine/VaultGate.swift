internal import CryptoCore
internal import StorageCore

/// The open file of a vault: opens it, closes it, and notices that it was replaced.
///
/// Whoever holds the gate may move memory on to another state of the file, so that this happens
/// once and in order. A writer holds the gate during its commit. Readers do not wait for that:
/// until the commit is done, the records in memory are current.
final class VaultGate: Sendable {
  private let vault: VaultContext
  private let freshness = Freshness()
  private let opened = Lock<OpenedVault?>(nil)

  init(_ vault: VaultContext) { self.vault = vault }

  /// Lends the open file, or nil, to one thread at a time.
  func withLock<Result>(
    _ body: (inout OpenedVault?) throws(StorageError) -> Result
  ) throws(StorageError) -> Result { try opened.withLock(body) }

  /// The open file; nil when it is closed.
  var current: OpenedVault? { opened.withLock { $0 } }

  // MARK: - Without the gate

  /// Whether the index in shared memory alone decides if memory is current.
  @inline(__always)
  var mayBeCurrent: Bool { freshness.mayBeCurrent }

  /// The files' stamp, if no shared memory tells about changes.
  func stamp() throws(StorageError) -> VaultFile.Stamp? { try freshness.stamp(of: vault.file) }

  /// Whether the path no longer leads to the open file, which nothing else tells a process that
  /// only reads.
  ///
  /// Takes one lstat(2) in each tick of the clock, or in each call with `askingAlways`. If lstat(2)
  /// fails, for example after the program has dropped its rights, the open file counts as in place.
  func isReplaced(askingAlways: Bool = false) -> Bool {
    let now = ClockTick.now
    guard askingAlways || !freshness.wasSeen(at: now),
      let place = vault.memory.read({ $0.place })
    else { return false }
    do throws(StorageError) {
      guard try FileStatus.ofEntry(vault.file.path)?.identity == place else { return true }
    } catch {}
    freshness.noteSeen(at: now)
    return false
  }

  /// Refuses to work in a forked child, where it would wait for a lock that nobody releases.
  ///
  /// https://sqlite.org/howtocorrupt.html, "Carrying an open database connection across a fork()".
  func requireSameProcess() throws(StorageError) {
    guard freshness.isParents else { return }
    throw StorageError(
      .unavailable,
      "the vault was opened before fork(2) and can't be used in the child; use it after execve(2)",
      path: vault.file.path)
  }

  // MARK: - Opening

  /// The open file, or nil if there is none; opens it if necessary and waits for other processes
  /// until `end`; under the gate.
  func open(
    _ opened: inout OpenedVault?, until end: ContinuousClock.Instant
  ) throws(StorageError) -> OpenedVault? {
    if let opened { return opened }
    guard try vault.file.check(mending: !vault.isReadOnly) else { return nil }
    // Read before the file is opened, so that a replacement in between is noticed.
    var place = try vault.file.place()
    var new = try openFile(until: end)
    // The file may have been replaced during the wait for its lock, or the folder while SQLite,
    // which knows only paths, looked for it.
    while try isMoved(new, from: place), ContinuousClock.now < end {
      place = try vault.file.place()
      new = try openFile(until: end)
    }
    let isStamped = if case .stamp = new.watch { true } else { false }
    // The stamp already shows a replacement.
    vault.memory.withLock { $0.place = isStamped ? nil : place }
    opened = new
    freshness.noteOpening(isStamped: isStamped)
    return new
  }

  private func isMoved(
    _ opened: OpenedVault, from place: FileStatus.Identity?
  ) throws(StorageError) -> Bool {
    if try opened.main.hasMoved() { return true }
    return try vault.file.place() != place
  }

  private func openFile(
    until end: ContinuousClock.Instant
  ) throws(StorageError) -> OpenedVault {
    do throws(StorageError) {
      // A vault on a read-only disk can still be read; a write throws the reason.
      guard !vault.isReadOnly, vault.file.isWritable, vault.file.isFolderWritable else {
        return try OpenedVault(reading: vault.file, until: end)
      }
      return try OpenedVault(writing: vault.file, until: end)
    } catch {
      // If the disk has no room for shared memory, nobody has the vault open, so it can be read as
      // it is.
      guard error.code == .full, try vault.file.standsAlone() else { throw error }
      return try OpenedVault(reading: vault.file, until: end, without: error)
    }
  }

  // MARK: - Closing

  /// Closes a file that was removed or replaced; under the gate.
  func close(_ opened: inout OpenedVault?) {
    // Comes first, since memory may use the index of the file that is closed.
    forget()
    release(&opened)
  }

  /// Closes a file that was replaced by another with possibly the same content; under the gate.
  func leave(_ opened: inout OpenedVault?) {
    // Comes first, since memory may use the index of the file that is closed.
    vault.memory.withLock { $0.suspect() }
    release(&opened)
  }

  /// Closes a file whose next opening may show another state of it; under the gate.
  func pause(_ opened: inout OpenedVault?) {
    // Comes first, since memory may use the index of the file that is closed.
    vault.memory.withLock { $0.doubt() }
    release(&opened)
  }

  /// Closes a file that other processes have changed, so that it is opened in its present state;
  /// under the gate.
  func reopen(
    _ opened: inout OpenedVault?, _ stamp: VaultFile.Stamp
  ) throws(StorageError) {
    let now = try vault.file.stamp().file
    // In the same file, the changes can be found; in another file, everything may differ.
    guard let old = stamp.file, now?.inode == old.inode, now?.device == old.device else {
      return close(&opened)
    }
    pause(&opened)
  }

  private func release(_ opened: inout OpenedVault?) {
    // In a forked child the file stays open, so that the child's calls are refused.
    guard !freshness.isParents else { return }
    freshness.noteClosing()
    opened = nil
  }

  /// Closes a file that will be replaced; the next use opens the new one.
  func close() { opened.withLock { close(&$0) } }

  /// Closes a file that may be replaced; the next use opens what is there then.
  func leave() { opened.withLock { leave(&$0) } }

  /// Closes the file at the end of the process; a later use opens it again.
  func shutDown() { opened.withLock { pause(&$0) } }

  /// Makes the next transaction read everything from the file; the queue's leader calls it.
  func forgetPages() { opened.withLock { $0?.main.forgetPages() } }

  /// Empties memory, as for a vault without records, and tells the observers which records are
  /// gone; under the gate.
  func forget() {
    vault.memory.withLock { memory in
      let gone =
        vault.observers.isEmpty
        ? [] : memory.records.all.filter { $0.entry.record != nil }.map(\.key.name)
      memory.reset()
      vault.observers.notify(gone.map { RecordChange(name: $0, record: nil) }, memory.headerVersion)
    }
  }
}
