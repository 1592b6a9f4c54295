internal import CryptoCore
internal import Glibc
internal import StorageCore
internal import Synchronization

/// One vault in this process, shared by all delegates of the same file.
///
/// Order of locks: `queue`, SQLite's write lock, `gate`, `memory`.
final class VaultEngine: SharedPlace {
  private static let attempts = 1000

  let file: VaultFile
  let access: VaultAccess
  let memory = SharedLock(VaultMemory())
  /// The commits that this process has seen of the file.
  let seen: SeenCommits
  /// Held while `memory` moves on to another state of the file, so that this happens once and in
  /// order.
  ///
  /// A writer holds it during its commit. No reader waits for that: until the commit is done, the
  /// records in memory are current.
  let gate = Lock<OpenedVault?>(nil)
  let queue = WriteQueue()
  let listeners = VaultListeners()
  var observers: ChangeObservers { listeners.changes }
  let notice: VaultNotice
  let freshness = Freshness()
  let residue = LogResidue()
  private let mustExist = Atomic<Bool>(false)

  /// The vault of a file; see ``VaultRegistry``.
  init(_ file: VaultFile, _ access: VaultAccess) {
    self.file = file
    self.access = access
    notice = VaultNotice(file)
    seen = SeenCommits.of(file)
  }

  var path: String { file.path }

  /// From now on no storage of this process creates the vault.
  func makeNothing() { mustExist.store(true, ordering: .releasing) }

  /// Whether a missing vault is an error and must not be created.
  var makesNothing: Bool { mustExist.load(ordering: .acquiring) }

  // MARK: - Reading

  /// The record of a name and the version of its header, if memory has them and they are current.
  @inline(__always)
  func known(_ name: NameHash) -> (record: [UInt8]?, headerVersion: UInt64)? {
    guard freshness.mayBeCurrent else { return nil }
    return memory.read { memory in
      guard memory.isCurrent(nil), let record = memory.record(for: name) else { return nil }
      return (record, memory.headerVersion)
    }
  }

  /// Copies the record of a name, as ``known(_:)`` finds it, without counting a reference to it.
  @inline(__always)
  func copy(_ name: NameHash, into buffer: UnsafeMutableRawBufferPointer) -> RecordCopy? {
    guard freshness.mayBeCurrent else { return nil }
    return memory.read { memory in unsafe memory.copy(name, into: buffer) }
  }

  /// The record of a name, and the version of its header.
  func lookup(
    _ name: NameHash, waiting deadline: Duration
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) {
    try requireSameProcess()
    if isReplaced() { return try load(name, waiting: deadline) }
    let stamp = try freshness.stamp(of: file)
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
      let stamp = try freshness.stamp(of: file)
      // Nobody has written since memory was brought up to date, so the row belongs to that state.
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
    let stamp = try freshness.stamp(of: file)
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

  /// Lends a connection that sees the present vault; returns nil when there is no file.
  ///
  /// All reads come from the file, even of pages that were read before.
  func reading<Result>(
    waiting deadline: Duration, _ body: (Connection) throws(StorageError) -> Result
  ) throws(StorageError) -> Result? {
    try requireSameProcess()
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

  /// Makes the next transaction read everything from the file; the queue's leader calls it.
  func forgetPages() { gate.withLock { $0?.main.forgetPages() } }

  // MARK: - Opening and closing

  /// The open file, or nil if there is none; opens it if necessary and waits for other processes
  /// until `end`.
  func open(
    _ opened: inout OpenedVault?, until end: ContinuousClock.Instant
  ) throws(StorageError) -> OpenedVault? {
    if let opened { return opened }
    guard try file.check(mending: access == .readWrite) else { return nil }
    // Read before the file is opened, so that a replacement in between is noticed.
    var place = try file.place()
    var new = try openFile(until: end)
    // The file may have been replaced during the wait for its lock, or the folder while SQLite,
    // which knows only paths, looked for it.
    while try isMoved(new, from: place), ContinuousClock.now < end {
      place = try file.place()
      new = try openFile(until: end)
    }
    let isStamped = if case .stamp = new.watch { true } else { false }
    // The stamp already shows a replacement.
    memory.withLock { $0.place = isStamped ? nil : place }
    opened = new
    freshness.noteOpening(isStamped: isStamped)
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
        // A vault on a read-only disk can still be read; a write throws the reason.
        guard file.isWritable, file.isFolderWritable else {
          return try OpenedVault(reading: file, until: end)
        }
        return try OpenedVault(writing: file, until: end)
      case .readOnly: return try OpenedVault(reading: file, until: end)
      }
    } catch {
      // If the disk has no room for shared memory, nobody has the vault open, so it can be read as
      // it is.
      guard error.code == .full, try file.standsAlone() else { throw error }
      return try OpenedVault(reading: file, until: end, without: error)
    }
  }

  /// Whether the file is a vault, whatever its content.
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

  /// Refuses to work in a forked child, where it would wait for a lock that nobody releases.
  ///
  /// https://sqlite.org/howtocorrupt.html, "Carrying an open database connection across a fork()".
  func requireSameProcess() throws(StorageError) {
    guard freshness.isParents else { return }
    throw StorageError(
      .unavailable,
      "the vault was opened before fork(2) and can't be used in the child; use it after execve(2)",
      path: file.path)
  }

  /// Closes a file that was removed or replaced.
  func close(_ opened: inout OpenedVault?) {
    // Comes first, since memory may use the index of the file that is closed.
    forget()
    release(&opened)
  }

  /// Closes a file that was replaced by another with possibly the same content.
  func leave(_ opened: inout OpenedVault?) {
    // Comes first, since memory may use the index of the file that is closed.
    memory.withLock { $0.suspect() }
    release(&opened)
  }

  /// Closes a file that will be replaced; the next use opens the new one.
  func close() { gate.withLock { close(&$0) } }

  /// Closes the file at the end of the process; a later use opens it again.
  func shutDown() {
    gate.withLock { opened in
      memory.withLock { $0.doubt() }
      release(&opened)
    }
  }

  func release(_ opened: inout OpenedVault?) {
    // It stays refused.
    guard !freshness.isParents else { return }
    freshness.noteClosing()
    opened = nil
  }

  /// Closes a file that other processes have changed, so that it is opened in its present state.
  func reopen(
    _ opened: inout OpenedVault?, _ stamp: VaultFile.Stamp
  ) throws(StorageError) {
    let now = try file.stamp().file
    // In the same file, the changes can be found; in another file, everything may differ.
    guard let old = stamp.file, now?.inode == old.inode, now?.device == old.device else {
      return close(&opened)
    }
    memory.withLock { $0.doubt() }
    release(&opened)
  }

  /// Empties memory, as for a vault without records, and tells the observers what is gone.
  func forget() {
    memory.withLock { memory in
      let gone =
        observers.isEmpty
        ? [] : memory.records.all.filter { $0.entry.record != nil }.map(\.key.name)
      memory.reset()
      listeners.notify(gone.map { RecordChange(name: $0, record: nil) }, memory.headerVersion)
    }
  }
}
