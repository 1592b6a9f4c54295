internal import CryptoCore
internal import StorageCore

/// What one process knows of a store: its header and its sealed records, each with its version.
///
/// Each row only moves forward: what is older than a known version of the row changes nothing. So
/// it does not matter in which order the answers of commits, reads, lists and watches arrive.
final class RemoteMemory: Sendable {
  private struct State: ~Copyable {
    var records = RemoteTable()
    var header: [UInt8]?
    /// The version of the header, or of its removal; 0 when it was never there.
    var headerVersion: Mark = 0
    /// Up to which moment all changes are known; nil before the first list.
    var mark: Mark?
    var removals = Removals()
    /// At this time, or later, everything that memory has was all that there was.
    var confirmed: MonotonicTime?
    /// A later time at which the engine was at a mark that memory has not reached yet.
    var unconfirmed: (mark: Mark, time: MonotonicTime)?

    /// How many watches have begun, and of which all rows were compared after its beginning.
    ///
    /// A watch may miss changes at its beginning, so until then it does not tell how new memory is.
    var (watch, compared) = (0, 0)

    mutating func confirm(_ time: MonotonicTime) {
      if let confirmed, confirmed.since(time) > 0 { return }
      confirmed = time
    }
    var past = PastRecords()
    /// Why the memory may not be used: the engine's history is not the one that it had.
    var failure: StorageError?
    /// The versions of the lanes: each commit of whatever process raises one.
    var lanes: [LaneID: Mark] = [:]
    /// The rows that were changed since a copy was kept, with the versions of these changes; nil
    /// without a copy.
    var changed: [RowKey: Mark]?
    /// Is called when a first row was changed.
    var tellKeeper: (@Sendable () -> Void)?

    mutating func note(_ key: RowKey, _ version: Mark) {
      guard changed != nil else { return }
      if changed!.isEmpty { tellKeeper?() }
      changed![key] = version
    }
  }
  private let state = SharedLock(State())
  private let observers = ChangeObservers()

  /// What a check of a commit needs to know of a record.
  struct Known: Sendable {
    let record: [UInt8]?
    /// The version; 0 when there is no record.
    let version: Mark
    /// Whether somebody put the record back after it was replaced or removed.
    ///
    /// It is then empty, which is a record that does not open.
    var isPast = false
  }

  // MARK: Reading

  /// Up to which moment all changes are known; nil before the first list.
  var mark: Mark? { state.read { $0.mark } }

  /// At this time memory had everything that there was; nil before the first list.
  var confirmed: MonotonicTime? { state.read { $0.confirmed } }

  /// Throws why the memory may not be used.
  func requireSound() throws(StorageError) {
    if let failure = state.read({ $0.failure }) { throw failure }
  }

  /// The header and its version.
  func header() throws(StorageError) -> (header: [UInt8]?, version: Mark) {
    try state.read { (state) throws(StorageError) in
      if let failure = state.failure { throw failure }
      return (state.header, state.headerVersion)
    }
  }

  /// The record under a name, its version and the header's.
  func lookup(
    _ name: NameHash
  ) throws(StorageError) -> (known: Known, headerVersion: Mark) {
    try state.read { (state) throws(StorageError) in
      if let failure = state.failure { throw failure }
      let record = state.records[name]
      let isPast = record?.isPast == true
      return (
        Known(
          record: isPast ? [] : record?.bytes, version: record?.version ?? 0, isPast: isPast),
        state.headerVersion
      )
    }
  }

  /// Copies a record into a buffer.
  func copy(
    _ name: NameHash, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> RecordCopy? {
    try state.read { (state) throws(StorageError) in
      if let failure = state.failure { throw failure }
      guard let record = state.records[name] else {
        return RecordCopy(absentUnder: state.headerVersion)
      }
      // The usual way of reading says why it may not be read.
      return record.isPast
        ? nil
        : unsafe RecordCopy(
          of: record.rawBytes, into: buffer, headerVersion: state.headerVersion)
    }
  }

  /// All records of one moment.
  func all() throws(StorageError) -> AllRecords {
    try state.read { (state) throws(StorageError) in
      if let failure = state.failure { throw failure }
      var records: [NameHash: [UInt8]] = [:]
      // No bytes are a record that does not open.
      state.records.visit { records[$0] = $1.isPast ? [] : $1.bytes }
      return AllRecords(records: records, headerVersion: state.headerVersion)
    }
  }

  /// The names of all records.
  func names() throws(StorageError) -> [NameHash] {
    try state.read { (state) throws(StorageError) in
      if let failure = state.failure { throw failure }
      return state.records.names
    }
  }

  /// Whether there is no record.
  func isEmpty() throws(StorageError) -> Bool {
    try state.read { (state) throws(StorageError) in
      if let failure = state.failure { throw failure }
      return state.records.count == 0
    }
  }

  /// How many rows are known.
  func count() throws(StorageError) -> Int {
    try state.read { (state) throws(StorageError) in
      if let failure = state.failure { throw failure }
      return state.records.count + (state.header == nil ? 0 : 1)
    }
  }

  /// How many of some rows are known in the same version, and how many are not; lanes don't count.
  func countSame(_ rows: [Row]) -> (same: Int, others: Int) {
    state.read { state in
      var (same, others) = (0, 0)
      for row in rows where row.value != nil {
        let version: Mark?
        switch row.key {
        case .header: version = state.header == nil ? nil : state.headerVersion
        case .record(let hash): version = state.records[hash]?.version
        case .lane: continue
        }
        if version == row.version { same += 1 } else { others += 1 }
      }
      return (same, others)
    }
  }

  /// The versions of all rows that are known.
  func versions() -> [RowKey: Mark] {
    state.read { state in
      var versions: [RowKey: Mark] = [:]
      state.records.visit { versions[.record($0)] = $1.version }
      if state.header != nil { versions[.header] = state.headerVersion }
      return versions
    }
  }

  /// The versions of the lanes.
  var lanes: [RowKey: Mark] {
    state.read { state in
      Dictionary(uniqueKeysWithValues: state.lanes.map { (RowKey.lane($0.key), $0.value) })
    }
  }

  /// Calls `observer` for each change, in order, under the lock.
  func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation {
    observers.add(observer)
  }

  // MARK: For a copy

  /// What a copy does not have yet.
  struct Changes: Sendable {
    /// The rows that have changed, nil for those that are gone, with the versions of the changes.
    let rows: [RowKey: (row: Row?, version: Mark)]
    /// The moment up to which all changes are known.
    let mark: Mark
    /// When that was.
    let confirmed: MonotonicTime
    /// The records that were replaced or removed.
    let past: PastRecords
  }

  /// Notes from now on which rows have changed.
  func keepChanges(_ tell: @escaping @Sendable () -> Void) {
    state.withLock { ($0.tellKeeper, $0.changed) = (tell, [:]) }
  }

  /// Whether a copy lacks something.
  var hasChanges: Bool { state.read { $0.changed?.isEmpty == false } }

  /// What has changed since the last call; nil while there is no store.
  func takeChanges() throws(StorageError) -> Changes? {
    try state.withLock { (state) throws(StorageError) in
      if let failure = state.failure { throw failure }
      guard let changed = state.changed, let mark = state.mark, let confirmed = state.confirmed,
        state.header != nil
      else { return nil }
      state.changed = [:]
      var rows: [RowKey: (row: Row?, version: Mark)] = [:]
      for (key, version) in changed {
        switch key {
        case .header:
          rows[key] = (state.header.map { Row(key, $0, version: state.headerVersion) }, version)
        case .record(let hash):
          let record = state.records[hash]
          rows[key] = (record.map { Row(key, $0.bytes, version: $0.version) }, version)
        case .lane: break
        }
      }
      return Changes(rows: rows, mark: mark, confirmed: confirmed, past: state.past)
    }
  }

  /// Notes that changes were not kept.
  func putBack(_ changes: Changes) {
    state.withLock { state in
      state.changed?.merge(changes.rows.mapValues { $0.version }) { max($0, $1) }
    }
  }

  /// Takes in a copy, before anything else is known.
  func load(_ rows: [Row], past: PastRecords, upTo mark: Mark, confirmed: MonotonicTime) {
    state.withLock { $0.past = past }
    apply(rows, upTo: mark)
    state.withLock { state in
      state.confirmed = confirmed
      if state.changed != nil { state.changed = [:] }
    }
  }

  // MARK: Changing

  /// Runs a question to the engine, or a commit, and takes in its answer.
  ///
  /// What is removed meanwhile is not brought back by the answer, see ``Removals``.
  func asking<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    let number = state.withLock { $0.removals.beginQuestion(known: $0.mark) }
    defer { state.withLock { $0.removals.endQuestion(number, known: $0.mark) } }
    return try body()
  }

  /// Takes in what is part of what happened, such as the writes of a commit or the rows of an answer.
  func apply(_ changes: [Row]) {
    state.withLock { apply(changes, beyond: 0, to: &$0) }
  }

  /// Takes in all changes up to a mark, and perhaps later ones.
  ///
  /// A watch that is behind a list tells what the list has: of a row that was added and removed again,
  /// perhaps only the addition yet.
  func apply(_ changes: [Row], upTo mark: Mark) {
    state.withLock { state in
      apply(changes, beyond: state.mark ?? 0, to: &state)
      advance(&state, to: mark)
    }
  }

  /// Takes in that memory has all rows of a moment.
  func complete(at mark: Mark) { state.withLock { advance(&$0, to: mark) } }

  /// Removes what a list of all rows of one moment does not have, unless it is newer; then all
  /// changes up to that moment are known.
  ///
  /// - Parameters:
  ///   - mark: the moment.
  ///   - isGone: whether a row is not in the list.
  func removeRows(at mark: Mark, _ isGone: (RowKey) -> Bool) {
    state.withLock { state in
      // As in `apply`.
      if state.header != nil, isGone(.header) {
        apply(Row(.header, nil, version: mark), to: &state)
      }
      for name in state.records.names where isGone(.record(name)) {
        apply(Row(.record(name), nil, version: mark), to: &state)
      }
      advance(&state, to: mark)
    }
  }

  /// From now on a watch tells of changes, which may have missed some until all rows are compared.
  func beginWatch() {
    state.withLock { state in
      state.watch += 1
      state.unconfirmed = nil
    }
  }

  /// The number of the latest watch, to be given to ``endComparison(_:)``.
  var watch: Int { state.read { $0.watch } }

  /// Notes that all rows were compared after a watch had begun.
  func endComparison(_ watch: Int) {
    state.withLock { $0.compared = max($0.compared, watch) }
  }

  /// Takes in that the engine was at a mark at a time, or later.
  ///
  /// Memory that has all changes up to that mark was complete at that time.
  func confirm(_ mark: Mark, asOf time: MonotonicTime) {
    state.withLock { state in
      guard state.compared == state.watch else { return }
      if mark <= state.mark ?? 0 {
        state.confirm(time)
      } else if state.unconfirmed == nil {
        state.unconfirmed = (mark, time)
      }
    }
  }

  /// From now on every use throws this error.
  func fail(_ error: StorageError) { state.withLock { $0.failure = error } }

  private func advance(_ state: inout State, to mark: Mark) {
    guard mark >= state.mark ?? 0 else { return }
    state.mark = mark
    if let (mark, time) = state.unconfirmed, mark <= state.mark ?? 0 {
      state.confirm(time)
      state.unconfirmed = nil
    }
    state.removals.settle(known: mark)
  }

  private func apply(_ changes: [Row], beyond known: Mark, to state: inout State) {
    let changes = changes.lazy.filter { $0.version > known }
    // First that the header is gone: where somebody removed the whole store, no program removed a record,
    // and an observer must not take it for that.
    for change in changes where change.key == .header && change.value == nil {
      apply(change, to: &state)
    }
    for change in changes { apply(change, to: &state) }
  }

  private func apply(_ change: Row, to state: inout State) {
    switch change.key {
    case .header:
      guard change.version > state.headerVersion else { return }
      guard change.value != nil || state.header != nil else { return }
      (state.header, state.headerVersion) = (change.value, change.version)
      state.note(.header, change.version)
    case .record(let hash):
      let old = state.records[hash]
      guard change.version > max(old?.version ?? 0, state.removals[hash] ?? 0) else { return }
      if let old { unsafe state.past.add(old.rawBytes, of: hash) }
      let isPast = change.value.map { state.past.contains($0, of: hash) } ?? false
      if let value = change.value {
        state.records.update(value, change.version, isPast: isPast, for: hash)
        state.removals.forget(hash)
      } else {
        state.removals.add(hash, change.version, known: state.mark)
        guard old != nil else { return }
        state.records.remove(hash)
      }
      state.note(change.key, change.version)
      guard !observers.isEmpty else { return }
      observers.notify(
        RecordChange(
          name: hash, record: isPast ? [] : change.value, headerVersion: state.headerVersion))
    case .lane(let id):
      guard change.version > state.lanes[id] ?? 0 else { return }
      state.lanes[id] = change.value == nil ? nil : change.version
    }
  }
}
