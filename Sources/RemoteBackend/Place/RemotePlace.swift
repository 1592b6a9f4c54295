package import CryptoCore
internal import Glibc
package import StorageCore
internal import Synchronization

/// A store in an engine that many machines share; a ``RecordPlace`` like every other.
///
/// Reads come from the memory of this process, which a watch keeps current. A process reads its own
/// writes. A write asks the engine, whose answer decides: memory that is behind costs one more
/// question and never a wrong value.
package final class RemotePlace: RecordPlace {
  /// What a place may be told.
  package struct Options: Sendable {
    /// How long a call may take.
    package var deadline: Duration = .seconds(10)
    /// What the program may do here.
    package var access = StoreAccess.readWrite
    /// Tells this store from others in the same engine; its keys are bound to it.
    package var place = ""
    /// Whether a thread keeps the memory current from the first use on.
    package var follows = true
    /// Waits before the next attempt of a number; a simulation does not wait.
    package var pause: @Sendable (Int) -> Void = RemotePlace.pause

    /// The usual options.
    package init() {}
  }

  package let engine: any RemoteEngine
  let memory = RemoteMemory()
  let options: Options
  let writer: RemoteWriter
  /// One list at a time; the history that the first one found.
  private let history = Lock<String?>(nil)
  let headerTurn = Lock(())
  /// How many calls of ``creating(_:)`` run.
  private let creators = Atomic<Int>(0)
  private let follower = RemoteFollower()

  /// The place of a store in an engine.
  package init(_ engine: any RemoteEngine, _ options: Options = Options()) {
    self.engine = engine
    self.options = options
    writer = RemoteWriter(engine: engine, pause: options.pause)
  }

  deinit { follower.stop() }

  /// How current the memory is.
  package var state: RemoteState { follower.state }

  package var asksOthers: Bool { true }
  package var location: String? { engine.title }
  package func place() throws(StorageError) -> String { options.place }

  /// What the program may do here.
  ///
  /// A missing store is made by ``creating(_:)`` alone: a program that starts with a wrong address or
  /// prefix would otherwise make one of its own.
  package var allowance: StoreAccess {
    guard options.access != .readOnly else { return .readOnly }
    return creators.load(ordering: .acquiring) > 0 ? .readWrite : options.access
  }

  /// Runs a call that may make the store.
  package func creating<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    creators.add(1, ordering: .acquiringAndReleasing)
    defer { creators.subtract(1, ordering: .acquiringAndReleasing) }
    return try body()
  }

  /// One operation is the writer's lane, another may be the header.
  package var commitLimit: Int { engine.limits.operations - 2 }

  /// Half a millisecond to 50 ms, with a random part so that writers don't meet again.
  private static func pause(_ attempt: Int) {
    guard attempt > 0 else { return }
    let most = min(500 << min(attempt, 7), 50_000)
    usleep(UInt32.random(in: UInt32(most / 2)...UInt32(most)))
  }

  // MARK: Being current

  /// Reads all rows, unless that was done before.
  func prepare(by deadline: Deadline) throws(StorageError) {
    guard memory.mark == nil else { return }
    try history.withLock { (history) throws(StorageError) in
      guard memory.mark == nil else { return }
      try readAll(&history, by: deadline)
    }
  }

  /// Compares all rows with the engine's, and takes in what is missing.
  ///
  /// A watch may lose a change, and none says what happened while it was away.
  ///
  /// - Throws: `StorageError` when the engine can't be asked, or is not the one that it was.
  package func repair() throws(StorageError) { try repair(within: options.deadline) }

  /// The same, with a time of its own.
  func repair(within span: Duration) throws(StorageError) {
    let deadline = Deadline(after: span)
    try history.withLock { (history) throws(StorageError) in
      try readAll(&history, by: deadline)
    }
  }

  private func readAll(
    _ history: inout String?, by deadline: Deadline
  ) throws(StorageError) {
    try requireHistory(&history, by: deadline)
    let now = MonotonicTime.now
    let before = memory.mark
    let known = memory.versions()
    var found: [RowKey: Mark] = [:]
    // The first list has the values; a later one has only what tells that they are the same.
    let mark = try engine.list(keysOnly: before != nil, by: deadline) {
      (rows) throws(StorageError) in
      for row in rows {
        found[row.key] = row.version
      }
      guard before == nil else { return }
      memory.apply(rows.map { RemoteChange($0.key, $0.value, version: $0.version) })
    }
    if let before, mark < before { throw wentBack() }
    // What was known before the list is no later than the list.
    for (key, version) in known where version > mark || (found[key] ?? .max) < version {
      throw wentBack()
    }
    if before != nil {
      let missing = found.keys.filter { found[$0]! > known[$0] ?? 0 && !$0.isLane }
      for start in stride(from: 0, to: missing.count, by: engine.limits.operations) {
        let keys = Array(missing[start..<min(start + engine.limits.operations, missing.count)])
        let (rows, mark) = try engine.read(keys, by: deadline)
        memory.apply(rows, of: keys, at: mark)
      }
    }
    memory.removeRows(at: mark) { found[$0] == nil }
    memory.confirm(mark, asOf: now)
    if before == nil {
      removeOldLanes(found, by: deadline)
      if options.follows { follower.start(self) }
    }
  }

  /// How many lanes a store keeps; each process leaves one or more behind.
  private static let laneLimit = 512

  /// Removes the lanes that were used longest ago, if there are too many.
  ///
  /// A writer that still has one is refused once, and takes another. So is a late commit of a process
  /// that is gone.
  private func removeOldLanes(_ rows: [RowKey: Mark], by deadline: Deadline) {
    let lanes = rows.filter { $0.key.isLane }.sorted { $0.value < $1.value }
    guard lanes.count > Self.laneLimit, options.access != .readOnly else { return }
    let old = lanes.prefix(engine.limits.operations)
    let removal = RemoteCommit(
      checks: old.map { ($0.key, $0.value) }, writes: old.map { ($0.key, nil) })
    // If it fails, the next process that starts does it.
    do throws(StorageError) { _ = try engine.commit(removal, by: deadline) } catch {}
  }

  /// Refuses an engine that was made anew behind the same name.
  private func requireHistory(
    _ history: inout String?, by deadline: Deadline
  ) throws(StorageError) {
    let now = try engine.history(by: deadline)
    guard let known = history, known != now else {
      history = now
      return
    }
    let error = StorageError(
      .damaged,
      "another engine answers at this address than before, so its data is not that of this store; "
        + "check the address. If it was restored on purpose, start the program again",
      path: engine.title)
    memory.fail(error)
    throw error
  }

  private func wentBack() -> StorageError {
    let error = StorageError(
      .damaged,
      "the engine went back to an older state, as after a restored snapshot, so changes are lost. "
        + "Look what is missing, then start the program again", path: engine.title)
    memory.fail(error)
    return error
  }

  /// Reads rows at the engine, and takes them in.
  func refresh(
    _ keys: [RowKey], by deadline: Deadline
  ) throws(StorageError) -> [Row?] {
    try memory.requireSound()
    let now = MonotonicTime.now
    let (rows, mark) = try engine.read(keys, by: deadline)
    memory.apply(rows, of: keys, at: mark)
    memory.confirm(mark, asOf: now)
    return rows
  }

  /// How old the memory may be: everything that was committed so long ago is in it.
  ///
  /// Nil before the first use. It grows while nobody asks the engine, even if nothing has changed.
  package var age: Duration? {
    memory.confirmed.map { .nanoseconds(MonotonicTime.now.nanoseconds - $0.nanoseconds) }
  }

  /// Makes sure that memory is as new as a reader wants: of some rows, or of all.
  private func meet(_ reading: Reading, _ keys: [RowKey]?) throws(StorageError) {
    let deadline = Deadline(after: options.deadline)
    try prepare(by: deadline)
    switch reading {
    case .cached: return
    case .cachedFor(let most): if let age, age <= most { return }
    case .linearizable: break
    }
    guard let keys else { return try repair() }
    _ = try refresh(keys, by: deadline)
  }

  /// Follows the changes of others until the object is released or the watch ends.
  ///
  /// - Parameter ended: is called when the watch has ended.
  /// - Returns: the observation.
  /// - Throws: `StorageError` when the rows can't be read.
  package func follow(
    _ ended: @escaping @Sendable (RemoteEnd) -> Void
  ) throws(StorageError) -> ChangeObservation {
    try prepare(by: Deadline(after: options.deadline))
    let memory = memory
    return engine.watch(from: memory.mark ?? 0) { signal in
      switch signal {
      case .changes(let changes, let mark): memory.apply(changes, upTo: mark)
      case .alive: break
      case .ended(let end): ended(end)
      }
    }
  }

  // MARK: Reading

  package func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64) {
    try prepare(by: Deadline(after: options.deadline))
    return try memory.header()
  }

  package func lookup(
    _ name: NameHash
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) {
    try lookup(name, .cached)
  }

  /// The record under a name, as new as a reader wants it.
  package func lookup(
    _ name: NameHash, _ reading: Reading
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) {
    try meet(reading, [.header, .record(name)])
    let (known, version) = try memory.lookup(name)
    return (known.record, version)
  }

  package func copyRecord(
    _ name: NameHash, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> RecordCopy? {
    try prepare(by: Deadline(after: options.deadline))
    return try unsafe memory.copy(name, into: buffer)
  }

  package func names() throws(StorageError) -> [NameHash] { try names(.cached) }

  /// The names of all records, as new as a reader wants them.
  package func names(_ reading: Reading) throws(StorageError) -> [NameHash] {
    try meet(reading, nil)
    return try Array(memory.all().records.keys)
  }

  package func allRecords() throws(StorageError) -> AllRecords? { try allRecords(.cached) }

  /// All records, as new as a reader wants them.
  package func allRecords(_ reading: Reading) throws(StorageError) -> AllRecords? {
    try meet(reading, nil)
    return try memory.all()
  }

  package func observe(
    _ observer: @escaping @Sendable (RecordChange) -> Void
  ) -> ChangeObservation { memory.observe(observer) }
}

extension RowKey {
  /// Whether the row is a writer's lane.
  fileprivate var isLane: Bool {
    if case .lane = self { return true }
    return false
  }
}

extension RemotePlace: SharedPlace {
  package var path: String { engine.title }

  /// Nothing: only ``creating(_:)`` makes a store.
  package func makeNothing() {}
}
