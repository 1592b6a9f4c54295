internal import CryptoCore
internal import StorageCore
internal import Synchronization

/// One suite in this process, shared by all delegates of the same file.
///
/// Order of locks: `queue`, the lock file, `gate`, `memory`.
final class Suite: SharedPlace {
  let file: SuiteFile
  let memory = SharedLock(SuiteMemory())
  /// Held while the file is read, which therefore happens once and not in every waiting reader.
  private let gate = Lock(())
  let queue = WriteQueue()
  private let mustExist = Atomic<Bool>(false)
  private let fileObservers = FileObservers()
  var observers: ChangeObservers { fileObservers.changes }

  /// The suite at a canonical path; see ``SuiteRegistry``.
  init(_ file: SuiteFile) {
    self.file = file
  }

  var path: String { file.path }

  /// From now on no storage of this process creates the suite.
  func makeNothing() { mustExist.store(true, ordering: .releasing) }

  /// Whether a missing suite is an error and must not be created.
  var makesNothing: Bool { mustExist.load(ordering: .acquiring) }

  // MARK: - Reading

  /// Lends the suite's present state.
  ///
  /// Costs a look at the clock, one stat(2) when the last was longer ago than ``SuiteFile/trust``,
  /// and reading the file when another process has changed it.
  func read<Result>(_ body: (borrowing SuiteMemory) -> Result) throws(StorageError) -> Result {
    let now = MonotonicTime.now
    let result = try memory.read { (memory) throws(StorageError) in
      try memory.isCurrent(at: now, trusting: file.trust) ? body(memory) : nil
    }
    if let result { return result }
    return try readAfterLooking(body)
  }

  /// Copies a record that this process has read before, if memory is current, without counting a
  /// reference to it.
  func copy(
    _ name: NameHash, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> RecordCopy? {
    let now = MonotonicTime.now
    let copied = try memory.read { (memory) throws(StorageError) in
      guard try memory.isCurrent(at: now, trusting: file.trust) else {
        return SuiteMemory.Copied.other
      }
      return unsafe memory.copy(name, into: buffer)
    }
    switch copied {
    case .copy(let copy): return copy
    case .unknown: memory.withLock { $0.learn(name) }
    case .other: break
    }
    return nil
  }

  private func readAfterLooking<Result>(
    _ body: (borrowing SuiteMemory) -> Result
  ) throws(StorageError) -> Result {
    let now = MonotonicTime.now
    let stamp = try file.stamp()
    let result = try memory.read { (memory) throws(StorageError) in
      try memory.isCurrent(at: stamp, seen: now) ? body(memory) : nil
    }
    if let result { return result }
    try refresh()
    return try memory.read { (memory) throws(StorageError) in
      try memory.check()
      return body(memory)
    }
  }

  /// Reads the file if it differs from memory, and tells the observers about changes.
  func refresh() throws(StorageError) {
    try withGate { () throws(StorageError) in }
  }

  /// Reads the file if it is new, and then runs `body` while nobody else reads the file.
  func withGate<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try gate.withLock { (_) throws(StorageError) in
      try reload()
      return try body()
    }
  }

  private func reload() throws(StorageError) {
    let loaded: SuiteFile.Loaded?
    do throws(StorageError) {
      loaded = try loadIfNew()
    } catch {
      memory.withLock { tellOfFailure(&$0) }
      throw error
    }
    guard let loaded else { return }
    guard case .success(let contents) = loaded.contents else {
      memory.withLock { memory in
        memory.adopt(loaded)
        tellOfFailure(&memory)
      }
      _ = try loaded.contents.get()
      return
    }
    // Nobody else replaces the contents while the gate is held and nobody commits.
    var changes: [(name: NameHash, record: [UInt8]?)] = []
    if !observers.isEmpty {
      let (old, isFailureReported) = memory.withLock { ($0.contents, $0.isFailureReported) }
      changes = old.changes(to: contents, andAllElse: isFailureReported)
    }
    memory.withLock { memory in
      memory.adopt(loaded)
      if memory.isFailureReported { notifyAll() }
      memory.isFailureReported = false
      for (name, record) in changes { notify(name, record, memory) }
    }
  }

  /// The file's contents, or nil when memory already has them.
  private func loadIfNew() throws(StorageError) -> SuiteFile.Loaded? {
    let now = MonotonicTime.now
    let stamp = try file.stamp()
    let isCurrent = try memory.read { (memory) throws(StorageError) in
      try memory.isCurrent(at: stamp, seen: now)
    }
    return isCurrent ? nil : try file.load()
  }

  // MARK: - Observing

  /// Tells the observers about a change; called under the lock of `memory`.
  func notify(_ name: NameHash, _ record: [UInt8]?, _ memory: borrowing SuiteMemory) {
    guard !observers.isEmpty else { return }
    observers.notify(
      RecordChange(name: name, record: record, headerVersion: memory.headerVersion))
  }

  /// Makes the observers look themselves, once for each time that the file becomes unreadable.
  private func tellOfFailure(_ memory: inout SuiteMemory) {
    guard !memory.isFailureReported, !observers.isEmpty else { return }
    memory.isFailureReported = true
    notifyAll()
  }

  /// Reports a change of an unknown name; called under the lock of `memory`.
  private func notifyAll() {
    observers.notify(.unknown)
  }

  /// Calls `observer` for each change, including other processes' changes, until the observation is
  /// released.
  func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation {
    fileObservers.add(
      observer, of: self, watching: .folder(file.folder), threadName: "SPS defaults"
    ) { (suite) throws(StorageError) in try suite.refresh() }
  }
}
