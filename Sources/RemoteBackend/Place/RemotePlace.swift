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
    /// What tells the time.
    package var clock = RemoteClock.machine
    /// Where a copy is kept on this machine; nil for nowhere.
    package var copy: DelegatedStorage?

    /// The usual options.
    package init() {}
  }

  package let engine: any RemoteEngine
  let memory = RemoteMemory()
  let options: Options
  let writer: RemoteWriter
  /// One list at a time.
  let listTurn = RemoteTurn()
  private let history = Lock<String?>(nil)
  /// The latest commit of this machine that the copy remembers.
  let rememberedLane = Lock<Lane?>(nil)
  /// Whether the memory can be read.
  let isPrepared = Atomic<Bool>(false)
  /// One change of the header at a time.
  let headerTurn = RemoteTurn()
  /// How many calls of ``creating(_:)`` run.
  private let creators = Atomic<Int>(0)
  let follower = RemoteFollower()
  let keeper: RemoteKeeper?

  /// The place of a store in an engine.
  package init(_ engine: any RemoteEngine, _ options: Options = Options()) {
    self.engine = engine
    self.options = options
    writer = RemoteWriter(engine: engine, pause: options.pause)
    let copy = options.copy.map { RemoteCopy(storage: $0, place: options.place) }
    keeper = copy.map { [memory] in RemoteKeeper($0, memory) }
  }

  deinit {
    follower.stop()
    keeper?.stop()
  }

  /// The history of the engine, as it was found first; nil before.
  var knownHistory: String? {
    get { history.withLock { $0 } }
    set { history.withLock { $0 = newValue } }
  }

  /// How current the memory is.
  ///
  /// A copy that can't be written is said where nothing worse is.
  package var state: RemoteState {
    guard let age else { return .unused }
    func span(since time: MonotonicTime) -> Duration { .nanoseconds(MonotonicTime.now.since(time)) }
    if let failure = follower.failure {
      return .away(failure.error, since: span(since: failure.since), age: age)
    }
    if let failure = keeper?.failure {
      return .unkept(failure.error, since: span(since: failure.since), age: age)
    }
    return .current(age: age)
  }

  /// When a call that begins now gives up: after its own time, or with the call that it is a part of.
  func callDeadline() -> Deadline {
    let own = Deadline(after: options.deadline, options.clock)
    guard let end = CallLimit.end else { return own }
    return own.within(.nanoseconds(end.since(.now)))
  }

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

  // MARK: Reading

  package func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64) {
    try prepare(by: callDeadline())
    let known = try memory.header()
    guard known.header == nil, try !memory.isEmpty() else { return known }
    // Records without a header are damage, or a change that the watch did not tell.
    try repair()
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
    if known.isPast { StorageDiagnostics.report(putBack) }
    return (known.record, version)
  }

  private var putBack: StorageError {
    StorageError(
      .damaged,
      "a record that was replaced or removed before is there again, so somebody put it back; save the "
        + "value again, and see who can write to the store", path: engine.title)
  }

  package func copyRecord(
    _ name: NameHash, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> RecordCopy? {
    try prepare(by: callDeadline())
    return try unsafe memory.copy(name, into: buffer)
  }

  package func names() throws(StorageError) -> [NameHash] { try names(.cached) }

  /// The names of all records, as new as a reader wants them.
  package func names(_ reading: Reading) throws(StorageError) -> [NameHash] {
    try meet(reading, nil)
    return try memory.names()
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

extension RemotePlace: DistantPlace {
  package var deadline: Duration { options.deadline }

  package func latest(
    _ names: [NameHash]
  ) throws(StorageError) -> (records: [[UInt8]?], headerVersion: UInt64) {
    let deadline = callDeadline()
    try prepare(by: deadline)
    try requireRoom(names.count)
    let rows = try refresh([.header] + names.map { .record($0) }, by: deadline)
    var records: [[UInt8]?] = []
    for (name, row) in zip(names, rows.dropFirst()) {
      // A row that somebody put back is a record that does not open.
      let known = try memory.lookup(name).known
      records.append(row.value != nil && known.isPast ? [] : row.value)
    }
    return (records, rows[0].value == nil ? 0 : rows[0].version)
  }

  package func watchConnection(
    _ sink: @escaping @Sendable (ConnectionEvent) -> Void
  ) -> ChangeObservation { follower.watch(sink) }

  package func takeInAll() throws(StorageError) { try repair() }

  package func isRecord(
    _ record: [UInt8], of name: NameHash, olderThan headerVersion: UInt64
  ) throws(StorageError) -> Bool {
    let known = try memory.lookup(name).known
    return known.record == record && known.version < headerVersion
  }
}

extension RemotePlace: SharedPlace {
  package var path: String { engine.title }

  /// Nothing: only ``creating(_:)`` makes a store.
  package func makeNothing() {}
}
