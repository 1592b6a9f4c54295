internal import CryptoCore
internal import Glibc
internal import StorageCore
internal import Synchronization

/// One vault in this process, shared by all delegates of the same file.
///
/// Order of locks: `queue`, SQLite's write lock, `gate`, `memory`.
final class VaultEngine: Sendable {
  private static let attempts = 1000

  let file: VaultFile
  let access: VaultAccess
  let memory = SharedLock(VaultMemory())
  /// What this process knows of the file's past.
  let seen: SeenCommits
  /// Held while `memory` moves on to another state of the file, which happens once and in order.
  ///
  /// A writer holds it over its commit. No reader waits for that: until the commit is there, what
  /// readers have in memory is current.
  let gate = Lock<OpenedVault?>(nil)
  let queue = WriteQueue()
  let fileObservers = FileObservers()
  var observers: ChangeObservers { fileObservers.changes }
  let notice: VaultNotice
  /// Whether readers have to look at the files, since there is no shared memory that tells.
  let isStamped = Atomic<Bool>(false)
  /// Whether a vault that is not there is never made, since a program said that there must be one.
  let makesNothing = Atomic<Bool>(false)
  /// What the log may hold that was meant to be gone.
  let residue = Atomic<Residue>(.none)
  /// The tick in which it was seen last that the open file is still in its place.
  let looked = Atomic<Int64>(-1)
  /// Whether observers were told that the file can't be read; changed under the gate.
  let isFailureTold = Atomic<Bool>(false)
  private let forks = ForkCount.shared
  /// The count of forks when the file was opened; -1 when it is not open.
  private let openedAt = Atomic<Int>(-1)
  /// The process that has the file open, or 0.
  private let opener = Atomic<pid_t>(0)

  /// What the log may hold that was meant to be gone, as an old key slot.
  enum Residue: UInt8, AtomicRepresentable {
    case none
    /// Of a process that may have ended before it could empty the log.
    case ofOthers
    /// Of this one.
    case own
    /// The same, and it was told why it could not be emptied.
    case told
  }

  /// The vault of a file; see ``VaultRegistry``.
  init(_ file: VaultFile, _ access: VaultAccess) {
    self.file = file
    self.access = access
    notice = VaultNotice(file)
    seen = SeenCommits.of(file)
  }

  // MARK: - Reading

  /// The record of a name and the version of the header that goes with it, if memory has them and
  /// they are current.
  @inline(__always)
  func known(_ name: NameHash) -> (record: [UInt8]?, headerVersion: UInt64)? {
    guard mayBeCurrent else { return nil }
    return memory.read { memory in
      guard memory.isCurrent(nil), let record = memory.record(for: name) else { return nil }
      return (record, memory.headerVersion)
    }
  }

  /// Copies the record of a name, as ``known(_:)`` finds it, without a reference to it.
  @inline(__always)
  func copy(_ name: NameHash, into buffer: UnsafeMutableRawBufferPointer) -> RecordCopy? {
    guard mayBeCurrent else { return nil }
    return memory.read { memory in unsafe memory.copy(name, into: buffer) }
  }

  /// Whether memory need not be compared with the file, but for what shared memory says.
  @inline(__always)
  private var mayBeCurrent: Bool {
    !isStamped.load(ordering: .relaxed) && openedAt.load(ordering: .relaxed) == forks.current
      && looked.load(ordering: .relaxed) == ClockTick.now
  }

  /// The record of a name, and the version of the header that goes with it.
  func lookup(
    _ name: NameHash, waiting deadline: Duration
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) {
    try requireSameProcess()
    if isReplaced() { return try load(name, waiting: deadline) }
    let stamp = isStamped.load(ordering: .relaxed) ? try file.stamp() : nil
    let known: (record: [UInt8]?, headerVersion: UInt64)? = memory.read { memory in
      guard memory.isCurrent(stamp), let record = memory.record(for: name) else { return nil }
      return (record, memory.headerVersion)
    }
    if let known { return known }
    return try load(name, waiting: deadline)
  }

  /// Reads a record from the file.
  @inline(never)
  private func load(
    _ name: NameHash, waiting deadline: Duration
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) {
    for _ in 0..<Self.attempts {
      guard let opened = try follow(waiting: deadline) else {
        return (nil, memory.withLock { $0.headerVersion })
      }
      let (known, generation, version) = memory.withLock {
        ($0.record(for: name), $0.generation, $0.headerVersion)
      }
      if let known { return (known, version) }
      let kept = try opened.withReader(waiting: deadline) { (reader) throws(StorageError) in
        try VaultRows.kept(name, reader)
      }
      let stamp = isStamped.load(ordering: .relaxed) ? try file.stamp() : nil
      // Nobody has written since memory was brought up to date, so the row is of that state too.
      let current: UInt64? = memory.withLock { memory in
        guard memory.generation == generation, memory.isCurrent(stamp) else { return nil }
        memory.keep(kept, for: name)
        return memory.headerVersion
      }
      if let current { return (kept.record, current) }
    }
    throw StorageError(.busy, "other writers kept changing the vault; try again", path: file.path)
  }

  /// The header and its version.
  func header(waiting deadline: Duration) throws(StorageError) -> ([UInt8]?, UInt64) {
    try requireSameProcess()
    let stamp = isStamped.load(ordering: .relaxed) ? try file.stamp() : nil
    let isReplaced = isReplaced()
    let known: ([UInt8]?, UInt64)? = memory.withLock { memory in
      !isReplaced && memory.isCurrent(stamp) ? (memory.header, memory.headerVersion) : nil
    }
    if let known { return known }
    _ = try follow(waiting: deadline)
    return memory.withLock { ($0.header, $0.headerVersion) }
  }

  /// The names of all records.
  func names(waiting deadline: Duration) throws(StorageError) -> [NameHash] {
    guard let opened = try follow(waiting: deadline) else { return [] }
    return try opened.withReader(waiting: deadline) { (reader) throws(StorageError) in
      try VaultRows.names(reader)
    }
  }

  /// Lends a connection that sees the vault as it is now, or nothing when there is no file.
  ///
  /// All that is read of it comes from the file, also what was read before.
  func reading<Result>(
    waiting deadline: Duration, _ body: (Connection) throws(StorageError) -> Result
  ) throws(StorageError) -> Result? {
    gate.withLock { (opened) in
      guard opened?.isCopy == true else { return }
      memory.withLock { $0.doubt() }
      release(&opened)
    }
    guard let opened = try follow(waiting: deadline) else { return nil }
    return try opened.withReader(waiting: deadline) { (reader) throws(StorageError) in
      reader.forgetPages()
      return try reader.reading { () throws(StorageError) in try body(reader) }
    }
  }

  /// Has the next transaction read all from the file; to be called by whoever leads the queue.
  func forgetPages() { gate.withLock { $0?.main.forgetPages() } }

  // MARK: - Opening and closing

  /// The open file; opened, if there is one, for which others are waited for until `end`.
  func open(
    _ opened: inout OpenedVault?, until end: ContinuousClock.Instant
  ) throws(StorageError) -> OpenedVault? {
    if let opened { return opened }
    guard try file.check(mending: access == .readWrite) else { return nil }
    // Before it is opened: of one that is replaced in between, it is then seen.
    var place = try file.place()
    var new = try openFile(until: end)
    // It may have been replaced while its lock was waited for, or the folder while SQLite, which knows paths
    // alone, looked for it.
    while try isMoved(new, from: place), ContinuousClock.now < end {
      place = try file.place()
      new = try openFile(until: end)
    }
    if case .stamp = new.watch {
      // Which says it already.
      place = nil
      isStamped.store(true, ordering: .relaxed)
    }
    memory.withLock { $0.place = place }
    opened = new
    opener.store(getpid(), ordering: .relaxed)
    openedAt.store(forks.current, ordering: .relaxed)
    return new
  }

  private func isMoved(
    _ opened: OpenedVault, from place: FileStatus.Identity?
  ) throws(StorageError) -> Bool {
    if try opened.main.hasMoved() { return true }
    return try file.place() != place
  }

  private func openFile(
    until end: ContinuousClock.Instant
  ) throws(StorageError) -> OpenedVault {
    do throws(StorageError) {
      switch access {
      case .readWrite:
        // What is on a disk that can't be written to is read nevertheless; a write says why it fails.
        guard file.isWritable, file.isFolderWritable else {
          return try OpenedVault(reading: file, until: end)
        }
        return try OpenedVault(writing: file, until: end)
      case .readOnly: return try OpenedVault(reading: file, until: end)
      }
    } catch {
      // Where there is no room for shared memory, nobody has the vault open: it can be read as it is.
      guard error.code == .full, try file.standsAlone() else { throw error }
      return try OpenedVault(reading: file, until: end, isFull: true)
    }
  }

  /// Whether the file is a vault, whatever is in it.
  func isVault(waiting deadline: Duration) throws(StorageError) -> Bool {
    do throws(StorageError) {
      guard try file.check(mending: false) else { return false }
      try VaultSchema.check(try Connection(file.path, .readOnly, until: .now + deadline))
      return true
    } catch {
      guard error.code == .damaged else { throw error }
      return false
    }
  }

  /// Refuses to go on in a forked child, before it waits for a lock that nobody there will give back.
  ///
  /// https://sqlite.org/howtocorrupt.html, "Carrying an open database connection across a fork()".
  func requireSameProcess() throws(StorageError) {
    let process = opener.load(ordering: .relaxed)
    guard process != 0, process != getpid() else { return }
    throw StorageError(
      .unavailable,
      "the vault was opened before fork(2) and can't be used in the child; use it after execve(2)",
      path: file.path)
  }

  /// Closes the file, which is no longer there or was replaced.
  func close(_ opened: inout OpenedVault?) {
    // First, since it may look at the index of what is closed.
    forget()
    release(&opened)
  }

  /// Closes the file, which was replaced by another that may hold the same.
  func leave(_ opened: inout OpenedVault?) {
    // First, since it may look at the index of what is closed.
    memory.withLock { $0.suspect() }
    release(&opened)
  }

  /// Closes the file, which is to be replaced; whoever uses it then opens the new one.
  func close() { gate.withLock { close(&$0) } }

  /// Closes the file at the end of the process; whoever still uses it opens it anew.
  func shutDown() {
    gate.withLock { opened in
      memory.withLock { $0.doubt() }
      release(&opened)
    }
  }

  func release(_ opened: inout OpenedVault?) {
    isStamped.store(false, ordering: .relaxed)
    openedAt.store(-1, ordering: .relaxed)
    opener.store(0, ordering: .relaxed)
    opened = nil
  }

  /// Closes a file that others have changed, to be opened as it is now.
  func reopen(
    _ opened: inout OpenedVault?, _ stamp: VaultFile.Stamp
  ) throws(StorageError) {
    let now = try file.stamp().file
    // In the same file, what has changed since can be told; in another, nothing need be the same.
    guard let old = stamp.file, now?.inode == old.inode, now?.device == old.device else {
      return close(&opened)
    }
    memory.withLock { $0.doubt() }
    release(&opened)
  }

  /// Knows of a vault without anything, and tells the observers what is gone.
  func forget() {
    memory.withLock { memory in
      let gone =
        observers.isEmpty
        ? [] : memory.records.all.filter { $0.entry.record != nil }.map(\.key.name)
      memory.reset()
      notify(gone.map { RecordChange(name: $0, record: nil) }, memory.headerVersion)
    }
  }
}
