internal import CryptoCore
package import StorageCore
internal import Synchronization

// How a place keeps its memory equal to the engine's rows.
extension RemotePlace {
  /// How long a start with a copy waits for the engine.
  private static let patience = Duration.seconds(3)

  /// Reads all rows, unless that was done before.
  ///
  /// While the engine can't be reached, the copy on this machine serves.
  func prepare(by deadline: @autoclosure () -> Deadline) throws(StorageError) {
    guard !isPrepared.load(ordering: .acquiring) else { return }
    let deadline = deadline()
    try listTurn.take(by: deadline, of: engine) { () throws(StorageError) in
      guard !isPrepared.load(ordering: .acquiring) else { return }
      try loadCopy()
      let hasCopy = memory.mark != nil
      do throws(StorageError) {
        try readAll(by: hasCopy ? deadline.within(Self.patience) : deadline)
      } catch {
        guard hasCopy, error.code == .unavailable || error.code == .timedOut else { throw error }
        begin(after: error)
      }
    }
  }

  /// Takes in what this machine has kept, if anything.
  private func loadCopy() throws(StorageError) {
    guard memory.mark == nil, let contents = try keeper?.copy.load() else { return }
    knownHistory = contents.history
    let age = WallTime.seconds.subtractingReportingOverflow(contents.time)
    let span = age.partialValue.multipliedReportingOverflow(by: 1_000_000_000)
    // A copy of the future tells that the clock was set back, so nobody knows how old it is.
    let isKnown = !age.overflow && !span.overflow && age.partialValue >= 0
    memory.load(
      contents.rows, past: contents.past, upTo: contents.mark,
      confirmed: options.clock.now().earlier(by: isKnown ? span.partialValue : .max / 2))
    if let lane = contents.lane { rememberedLane.withLock { $0 = lane } }
  }

  /// Lets others read the memory, and keeps it current from now on.
  private func begin(after error: StorageError?) {
    guard !isPrepared.exchange(true, ordering: .acquiringAndReleasing) else { return }
    keeper?.start(self)
    if options.follows { follower.start(self, after: error) }
  }

  /// Compares all rows with the engine's, and takes in what is missing.
  ///
  /// A watch may lose a change, and none says what happened while it was away.
  ///
  /// - Throws: `StorageError` when the engine can't be asked, or is not the one that it was.
  package func repair() throws(StorageError) { try repair(by: callDeadline()) }

  /// The same, with a time of its own.
  func repair(within span: Duration) throws(StorageError) {
    try repair(by: Deadline(after: span, options.clock))
  }

  /// The same, as a part of a call.
  func repair(by deadline: Deadline) throws(StorageError) {
    try listTurn.take(by: deadline, of: engine) { () throws(StorageError) in
      if !isPrepared.load(ordering: .acquiring) { try loadCopy() }
      try follower.noting(engine) { () throws(StorageError) in try readAll(by: deadline) }
    }
  }

  /// Writes what memory has to the copy on this machine, if there is one.
  ///
  /// - Throws: `StorageError` when the copy can't be written.
  package func keep() throws(StorageError) { try keeper?.save(self) }

  /// Makes memory equal to the engine's rows.
  ///
  /// A list ends early when the engine drops its moment between two pages. It then begins again.
  private func readAll(by deadline: Deadline) throws(StorageError) {
    var attempt = 0
    while true {
      options.pause(attempt)
      do throws(StorageError) {
        return try readOnce(by: deadline)
      } catch {
        guard error.code == .busy, !deadline.isOver else { throw error }
      }
      attempt += 1
    }
  }

  private func readOnce(by deadline: Deadline) throws(StorageError) {
    let watch = memory.watch
    // What was known before the list is no later than the list.
    var lanes = memory.lanes
    for lane in [rememberedLane.withLock { $0 }, writer.lanes.latest] {
      if let lane { lanes[lane.key] = max(lanes[lane.key] ?? 0, lane.version) }
    }
    try requireHistory(by: deadline)
    let now = options.clock.now()
    let isEmpty = try memory.isEmpty()
    let mark =
      memory.mark != nil || !isEmpty
      ? try compare(lanes, by: deadline) : try readFirst(by: deadline)
    // Only then: what is told before the end of a comparison does not count.
    memory.endComparison(watch)
    memory.confirm(mark, asOf: now)
    begin(after: nil)
  }

  /// Makes memory, which has something, equal to the engine's rows.
  private func compare(
    _ lanes: [RowKey: Mark], by deadline: Deadline
  ) throws(StorageError) -> Mark {
    if let mark = try agreement(lanes, by: deadline) { return mark }
    let (mark, repaired) = try compareAll(lanes, by: deadline)
    if repaired > 0 { follower.tell(.repaired(repaired), of: engine) }
    return mark
  }

  /// Reads all rows into memory, which has none.
  private func readFirst(by deadline: Deadline) throws(StorageError) -> Mark {
    var lanes: [RowKey: Mark] = [:]
    let moment = try engine.list(keysOnly: false, by: deadline) { (rows) throws(StorageError) in
      for row in rows where row.isLane { lanes[row.key] = row.version }
      memory.apply(rows)
    }
    memory.complete(at: moment.complete)
    removeOldLanes(lanes, by: deadline)
    return moment.complete
  }

  /// The mark at which memory has just the rows of the engine, which is the usual case and takes no
  /// memory to find out; nil when they differ.
  ///
  /// - Throws: `StorageError` when the engine can't be asked, or is not the one that it was.
  private func agreement(
    _ known: [RowKey: Mark], by deadline: Deadline
  ) throws(StorageError) -> Mark? {
    guard let before = memory.mark else { return nil }
    let count = try memory.count()
    var (same, others) = (0, 0)
    var lanes: [RowKey: Mark] = [:]
    let moment = try engine.list(keysOnly: true, by: deadline) { (rows) throws(StorageError) in
      for row in rows where row.isLane { lanes[row.key] = row.version }
      memory.apply(rows.filter { $0.value == nil })
      let found = memory.countSame(rows)
      same += found.same
      others += found.others
    }
    if moment.latest < before { throw wentBack() }
    try requireLanes(known, lanes)
    guard same == count, others == 0, try memory.count() == count else { return nil }
    noteLanes(lanes)
    try requireHeader(by: deadline)
    memory.complete(at: moment.complete)
    if !isPrepared.load(ordering: .acquiring) { removeOldLanes(lanes, by: deadline) }
    return moment.complete
  }

  /// Compares all rows with the engine's one by one, and takes in what is missing.
  ///
  /// - Returns: the mark of the rows, and how many of a memory that was complete differed.
  private func compareAll(
    _ lanes: [RowKey: Mark], by deadline: Deadline
  ) throws(StorageError) -> (mark: Mark, repaired: Int) {
    let before = memory.mark
    let known = memory.versions()
    var found: [RowKey: Mark] = [:]
    // A list that goes on where the first one failed has the values.
    let moment = try engine.list(keysOnly: before != nil, by: deadline) {
      (rows) throws(StorageError) in
      for row in rows where row.value != nil { found[row.key] = row.version }
      memory.apply(before == nil ? rows : rows.filter { $0.value == nil })
    }
    let mark = moment.complete
    if let before, moment.latest < before { throw wentBack() }
    // What was known before the list is no later than the list.
    for (key, version) in known where version > moment.latest || (found[key] ?? .max) < version {
      throw wentBack()
    }
    try requireLanes(lanes, found)
    noteLanes(found.filter { $0.key.isLane })
    var repaired = 0
    if let before {
      try requireHeader(by: deadline)
      let missing = found.keys.filter { found[$0]! > known[$0] ?? 0 && !$0.isLane }
      for start in stride(from: 0, to: missing.count, by: engine.limits.operations) {
        let end = min(start + engine.limits.operations, missing.count)
        try takeIn(missing[start..<end], by: deadline)
      }
      repaired = missing.count { found[$0]! <= before }
    }
    // What a watch that is there has not told yet is nothing that it missed.
    if let now = memory.mark, before != nil, now >= mark {
      repaired += memory.versions().count { $0.value <= mark && found[$0.key] == nil }
    }
    memory.removeRows(at: mark) { found[$0] == nil }
    if !isPrepared.load(ordering: .acquiring) { removeOldLanes(found, by: deadline) }
    return (mark, repaired)
  }

  /// Refuses an engine whose header is another one of the same version: a store of another engine.
  private func requireHeader(by deadline: Deadline) throws(StorageError) {
    let known = try memory.header()
    guard let header = known.header else { return }
    let row = try ask([.header], by: deadline).rows[0]
    if row.value != nil, row.version == known.version, row.value != header { throw wentBack() }
  }

  /// Reads rows, a part at a time where they are too much for one answer.
  private func takeIn(
    _ keys: ArraySlice<RowKey>, by deadline: Deadline
  ) throws(StorageError) {
    do throws(StorageError) {
      _ = try ask(Array(keys), by: deadline)
    } catch {
      guard error.code == .invalid, keys.count > 1 else { throw error }
      try takeIn(keys.prefix(keys.count / 2), by: deadline)
      try takeIn(keys.dropFirst(keys.count / 2), by: deadline)
    }
  }

  /// Refuses an engine that lacks a commit of which this machine knows.
  ///
  /// Each commit raises a lane. Where the rows of a commit were made by it, nothing else tells that
  /// they are missing: they look like rows that somebody removed.
  private func requireLanes(
    _ known: [RowKey: Mark], _ rows: [RowKey: Mark]
  ) throws(StorageError) {
    var isOneGone = false
    for (key, version) in known {
      if let now = rows[key] {
        if now < version { throw wentBack() }
      } else {
        isOneGone = true
      }
    }
    // Lanes are removed only from a store that has many.
    if isOneGone, rows.count(where: { $0.key.isLane }) < Self.laneLimit / 2 { throw wentBack() }
  }

  private func noteLanes(_ lanes: [RowKey: Mark]) {
    memory.apply(lanes.map { Row($0.key, [], version: $0.value) })
  }

  /// Reads what a refused commit checked, and gives its lane back to the writer, with its row as it is
  /// now.
  ///
  /// - Throws: `damaged` when the row is older than the lane's last commit, so that the engine went
  ///   back.
  func giveBack(
    _ lane: Lane?, readingAgain keys: [RowKey], by deadline: Deadline
  ) throws(StorageError) {
    guard let lane else {
      _ = try refresh(keys, by: deadline)
      return
    }
    let row = try refresh(keys + [lane.key], by: deadline)[keys.count]
    if row.value != nil, row.version < lane.version { throw wentBack() }
    writer.giveBack(lane, row)
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
  private func requireHistory(by deadline: Deadline) throws(StorageError) {
    let now = try engine.history(by: deadline)
    guard let known = knownHistory, known != now else {
      knownHistory = now
      return
    }
    let error = StorageError(
      .damaged,
      "another cluster answers at this address than before, so its data is not that of this store; "
        + "check the address. \(onPurpose)",
      path: engine.title)
    memory.fail(error)
    throw error
  }

  private func wentBack() -> StorageError {
    let error = StorageError(
      .damaged,
      "the store went back to an older state, as after a restored snapshot, so changes are lost; "
        + "look at what is missing. \(onPurpose)", path: engine.title)
    memory.fail(error)
    return error
  }

  /// What to do when the engine was made anew with the operator's knowledge.
  private var onPurpose: String {
    keeper == nil
      ? "If that was done on purpose, start the program again"
      : "If that was done on purpose, remove the copy on this machine and start the program again"
  }

  /// Reads rows at the engine, and takes them in.
  func refresh(
    _ keys: [RowKey], by deadline: Deadline
  ) throws(StorageError) -> [Row] {
    try memory.requireSound()
    let now = options.clock.now()
    let (rows, mark) = try ask(keys, by: deadline)
    memory.confirm(mark, asOf: now)
    return rows
  }

  /// The same, without word of how old the memory is.
  private func ask(
    _ keys: [RowKey], by deadline: Deadline
  ) throws(StorageError) -> (rows: [Row], mark: Mark) {
    try memory.asking { () throws(StorageError) in
      let (rows, mark) = try follower.noting(engine) { () throws(StorageError) in
        try engine.read(keys, by: deadline)
      }
      memory.apply(rows)
      return (rows, mark)
    }
  }

  /// How old the memory may be: everything that was committed so long ago is in it.
  ///
  /// Nil before the first use. It grows while nobody asks the engine, even if nothing has changed.
  package var age: Duration? {
    memory.confirmed.map { .nanoseconds(options.clock.now().nanoseconds - $0.nanoseconds) }
  }

  /// Makes sure that memory is as new as a reader wants: of some rows, or of all.
  func meet(_ reading: Reading, _ keys: [RowKey]?) throws(StorageError) {
    try prepare(by: callDeadline())
    switch reading {
    case .cached: return
    case .cachedFor(let most): if let age, age <= most { return }
    case .linearizable: break
    }
    let deadline = callDeadline()
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
    try prepare(by: callDeadline())
    let memory = memory
    memory.beginWatch()
    return engine.watch(from: memory.mark ?? 0) { signal in
      switch signal {
      case .changes(let changes, let mark): memory.apply(changes, upTo: mark)
      case .ended(let end): ended(end)
      }
    }
  }
}

extension RowKey {
  /// Whether the row is a writer's lane.
  fileprivate var isLane: Bool {
    if case .lane = self { return true }
    return false
  }
}

extension Row {
  /// Whether the row is a writer's lane, and there.
  fileprivate var isLane: Bool { value != nil && key.isLane }
}
