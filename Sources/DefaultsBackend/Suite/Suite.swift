internal import CryptoCore
internal import Dispatch
internal import StorageCore

/// One suite in this process, shared by all delegates of the same file.
///
/// Order of locks: `queue`, the lock files (header before file), `gate`, `memory`.
final class Suite: Sendable {
  let file: SuiteFile
  let memory = Lock(SuiteMemory())
  /// Held while the file is read, which therefore happens once and not in every waiting reader.
  private let gate = Lock(())
  let queue = WriteQueue()
  private let fileObservers = FileObservers()
  var observers: ChangeObservers { fileObservers.changes }
  /// Of its own, so that a suite whose disk or lock is stuck delays no other's writes.
  let background = DispatchQueue(label: "SecurePropertyStorage.DefaultsBackend")

  /// The suite at a canonical path; see ``SuiteRegistry``.
  init(path: String) {
    file = SuiteFile(path: path)
  }

  // MARK: - Reading

  /// Lends what the suite holds now.
  ///
  /// Costs one stat(2), and reading the file when somebody else has changed it.
  func read<Result>(_ body: (SuiteMemory) -> Result) throws(StorageError) -> Result {
    let stamp = try file.stamp()
    let result: Result? = try memory.withLock { (memory) throws(StorageError) in
      try memory.isCurrent(at: stamp) ? body(memory) : nil
    }
    if let result { return result }
    try refresh()
    return try memory.withLock { (memory) throws(StorageError) in
      try memory.check()
      return body(memory)
    }
  }

  /// Reads the file if it is not what memory holds, and tells the observers what is new.
  func refresh() throws(StorageError) {
    try withGate { () throws(StorageError) in }
  }

  /// Runs `body` while nobody else reads the file, after it was read if it is new.
  func withGate<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try gate.withLock { (_) throws(StorageError) in
      try reload()
      return try body()
    }
  }

  private func reload() throws(StorageError) {
    let stamp = try file.stamp()
    let isCurrent = try memory.withLock { (memory) throws(StorageError) in
      try memory.isCurrent(at: stamp)
    }
    guard !isCurrent else { return }
    let loaded = try file.load()
    // While the gate is held and nobody commits, nobody else replaces the contents.
    var changes: [(name: NameHash, record: [UInt8]?)] = []
    if !observers.isEmpty, case .success(let contents) = loaded.contents {
      changes = memory.withLock { $0.contents }.changes(to: contents)
    }
    memory.withLock { memory in
      memory.adopt(loaded)
      for (name, record) in changes where memory.pending.writes[name] == nil {
        notify(name, record, memory)
      }
    }
    _ = try loaded.contents.get()
  }

  // MARK: - Observing

  /// Tells the observers of a change; called under the lock of `memory`.
  func notify(_ name: NameHash, _ record: [UInt8]?, _ memory: borrowing SuiteMemory) {
    guard !observers.isEmpty else { return }
    observers.notify(
      RecordChange(name: name, record: record, headerVersion: memory.headerVersion))
  }

  /// Calls `observer` for each change, also of other processes, until the observation is released.
  func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> Observation {
    fileObservers.add(
      observer, of: self, watching: .folder(file.folder), threadName: "SPS defaults"
    ) { (suite) throws(StorageError) in try suite.refresh() }
  }
}
