internal import CryptoCore
package import RemoteBackend
package import StorageCore

/// An engine in memory, for tests: a cluster that keeps rows, and connections that may fail.
///
/// It keeps the promises of ``RemoteEngine`` that an engine can keep, and breaks off, delays and
/// loses what one can't hold together: answers, late commits, changes of a watch.
package final class MemoryCluster: Sendable {
  private struct State {
    /// A row without a value was removed.
    var rows: [RowKey: (value: [UInt8]?, version: Mark)] = [:]
    /// The largest mark that was given out, and the largest of a commit.
    var (mark, latest): (Mark, Mark) = (1, 1)
    /// Marks that were given out, and of which a commit may still be made.
    var running: Set<Mark> = []
    /// The changes in the order in which they were seen, and how many were forgotten before them.
    var log: [Row] = []
    var forgotten = 0
    /// Changes up to this mark are forgotten.
    var compacted: Mark = 0
    var history = "1"
    /// Commits whose client has given up, and which the engine may still make.
    var late: [RemoteCommit] = []
    var watches: [Int: Watcher] = [:]
    var nextWatch = 0

    /// Nothing up to this mark can still be made; never later than a commit.
    var complete: Mark { min((running.min() ?? mark + 1) - 1, latest) }
    var moment: Moment { Moment(complete: complete, latest: latest) }
  }
  private let state = Lock(State())
  /// Whether changes reach the watches by themselves, or only by ``deliver(_:)``.
  private let isPrompt: Bool

  /// Makes an empty cluster.
  ///
  /// - Parameter isPrompt: whether each watch is told of a commit before the commit returns.
  package init(isPrompt: Bool = true) { self.isPrompt = isPrompt }

  /// One watch, and how far it has been told.
  final class Watcher: Sendable {
    let tell: @Sendable (WatchSignal) -> Void
    /// The mark from which it was asked for, until it was told something, and how many changes it knows.
    let position: Lock<(begin: Mark?, count: Int)>

    init(from mark: Mark, _ tell: @escaping @Sendable (WatchSignal) -> Void) {
      (position, self.tell) = (Lock((mark, 0)), tell)
    }
  }

  // MARK: What an engine does

  func history() -> String { state.withLock { $0.history } }

  func read(_ keys: [RowKey]) -> (rows: [Row], mark: Mark) {
    state.withLock { state in
      (
        keys.map { key in
          let row = state.rows[key]
          return Row(key, row?.value, version: row?.version ?? state.complete)
        },
        state.latest
      )
    }
  }

  func commit(_ commit: RemoteCommit) -> Mark? {
    let mark = state.withLock { Self.make(commit, &$0) }
    if isPrompt, mark != nil { deliver() }
    return mark
  }

  private static func make(_ commit: RemoteCommit, _ state: inout State) -> Mark? {
    for (key, version) in commit.checks {
      let row = state.rows[key]
      guard row?.value == nil ? version == 0 : row?.version == version else { return nil }
    }
    let last = commit.writes.compactMap { state.rows[$0.key]?.version }.max() ?? 0
    // One that began early may be made late.
    let early = state.running.filter { $0 > last }.max()
    if early == nil { state.mark += 1 }
    let mark = early ?? state.mark
    state.running.remove(mark)
    state.latest = max(state.latest, mark)
    for (key, value) in commit.writes {
      state.rows[key] = (value, mark)
      state.log.append(Row(key, value, version: mark))
    }
    return mark
  }

  func list() -> (rows: [Row], moment: Moment) {
    state.withLock { state in
      let moment = state.moment
      let rows = state.rows.map { Row($0.key, $0.value.value, version: $0.value.version) }
      return (rows.filter { $0.value != nil || $0.version > moment.complete }, moment)
    }
  }

  func watch(
    from mark: Mark, _ tell: @escaping @Sendable (WatchSignal) -> Void
  ) -> ChangeObservation {
    let watcher = Watcher(from: mark, tell)
    let id = state.withLock { state in
      state.nextWatch += 1
      state.watches[state.nextWatch] = watcher
      return state.nextWatch
    }
    if isPrompt { deliver() }
    return ChangeObservation { [weak self] in self?.end(id) }
  }

  private func end(_ id: Int) { state.withLock { $0.watches[id] = nil } }

  // MARK: What a test does

  /// Tells watches what they have not been told.
  ///
  /// - Parameter isLost: whether a change is left out, as by a faulty engine.
  package func deliver(_ isLost: (Row) -> Bool = { _ in false }) {
    for (id, watcher) in state.withLock({ $0.watches }) {
      watcher.position.withLock { position in
        let (begin, known) = position
        let (changes, mark, count, isTooOld) = state.withLock { state in
          let count = state.forgotten + state.log.count
          let changes =
            begin.map { begin in state.log.filter { $0.version > begin } }
            ?? Array(state.log.dropFirst(max(known - state.forgotten, 0)))
          let isTooOld = begin.map { $0 < state.compacted } ?? (known < state.forgotten)
          return (changes, state.complete, count, isTooOld)
        }
        if isTooOld {
          end(id)
          watcher.tell(.ended(.tooOld))
        } else {
          position = (nil, count)
          watcher.tell(.changes(changes.filter { !isLost($0) }, mark))
        }
      }
    }
  }

  /// Ends all watches.
  package func cutWatches() {
    let all = state.withLock { state in
      defer { state.watches = [:] }
      return state.watches
    }
    for watcher in all.values {
      watcher.tell(.ended(.failed(StorageError(.unavailable, "the connection was cut"))))
    }
  }

  /// Forgets the changes so far.
  package func compact() {
    state.withLock { state in
      let complete = state.complete
      (state.compacted, state.forgotten) = (complete, state.forgotten + state.log.count)
      // What is later can still be asked for.
      let rest = Array(state.log.drop { $0.version <= complete })
      (state.log, state.forgotten) = (rest, state.forgotten - rest.count)
    }
  }

  /// Keeps a commit that its client has given up.
  func keepForLater(_ commit: RemoteCommit) { state.withLock { $0.late.append(commit) } }

  /// Tries one of the commits that were given up.
  ///
  /// - Parameter choose: picks one of so many.
  package func makeLate(_ choose: (Int) -> Int) {
    state.withLock { state in
      guard !state.late.isEmpty else { return }
      _ = Self.make(state.late.remove(at: choose(state.late.count)), &state)
    }
    if isPrompt { deliver() }
  }

  /// Everything that the cluster holds, to be put back.
  package struct Snapshot: Sendable {
    fileprivate let rows: [RowKey: (value: [UInt8]?, version: Mark)]
    fileprivate let mark: Mark
  }

  /// Takes a snapshot.
  package func snapshot() -> Snapshot {
    state.withLock { Snapshot(rows: $0.rows, mark: $0.mark) }
  }

  /// Puts a snapshot back, as an administrator does.
  ///
  /// - Parameters:
  ///   - snapshot: what to put back.
  ///   - history: the new history; nil where the engine keeps the old one, as etcd does.
  package func restore(_ snapshot: Snapshot, history: String? = nil) {
    cutWatches()
    state.withLock { state in
      (state.rows, state.mark, state.latest) = (snapshot.rows, snapshot.mark, snapshot.mark)
      (state.log, state.forgotten, state.compacted, state.late) = ([], 0, snapshot.mark, [])
      state.running = []
      if let history { state.history = history }
    }
  }

  /// Changes rows past all checks, as somebody with access to the engine can.
  package func tamper(_ writes: [(key: RowKey, value: [UInt8]?)]) {
    _ = commit(RemoteCommit(checks: [], writes: writes))
  }

  /// All rows.
  package var rows: [RowKey: [UInt8]] { state.withLock { $0.rows.compactMapValues { $0.value } } }

  /// Gives out a mark, of which a later commit may be made: as a transaction that begins.
  package func begin() {
    state.withLock { state in
      state.mark += 1
      state.running.insert(state.mark)
    }
  }

  /// Ends what ``begin()`` began and no commit was made of.
  package func endAll() { state.withLock { $0.running = [] } }
}

/// A connection to a ``MemoryCluster``, which fails as a test wants.
package struct MemoryEngine: RemoteEngine {
  /// What becomes of one call.
  package enum Fate: Sendable {
    /// It succeeds.
    case done
    /// Nothing is done, and the caller knows it.
    case refused
    /// It is done, and the answer is lost.
    case answerLost
    /// It is not done, and the answer is lost; a commit may still be made later.
    case late
    /// It is done, and the caller hears that there is no room.
    case doneAndFull
  }

  private let cluster: MemoryCluster
  private let fate: @Sendable () -> Fate
  private let beforeAnswer: @Sendable () -> Void

  /// A connection.
  ///
  /// - Parameters:
  ///   - cluster: the rows.
  ///   - fate: is asked before each call, and may let others act in between.
  ///   - beforeAnswer: runs between what the cluster does and the answer, and may do the same.
  package init(
    _ cluster: MemoryCluster, fate: @escaping @Sendable () -> Fate = { .done },
    beforeAnswer: @escaping @Sendable () -> Void = {}
  ) { (self.cluster, self.fate, self.beforeAnswer) = (cluster, fate, beforeAnswer) }

  package var title: String { "memory" }
  package var limits: RemoteLimits { RemoteLimits(operations: 128, bytes: 1_500_000) }

  package func history(by deadline: Deadline) throws(StorageError) -> String {
    try answer { cluster.history() }
  }

  package func read(
    _ keys: [RowKey], by deadline: Deadline
  ) throws(StorageError) -> (rows: [Row], mark: Mark) {
    try answer { cluster.read(keys) }
  }

  package func list(
    keysOnly: Bool, by deadline: Deadline, _ body: ([Row]) throws(StorageError) -> Void
  ) throws(StorageError) -> Moment {
    let (rows, moment) = try answer { cluster.list() }
    try body(
      keysOnly
        ? rows.map { Row($0.key, $0.value == nil ? nil : [], version: $0.version) } : rows)
    return moment
  }

  package func watch(
    from mark: Mark, _ tell: @escaping @Sendable (WatchSignal) -> Void
  ) -> ChangeObservation { cluster.watch(from: mark, tell) }

  package func commit(
    _ commit: RemoteCommit, by deadline: Deadline
  ) throws(StorageError) -> Mark? {
    let fate = fate()
    defer { beforeAnswer() }
    switch fate {
    case .done: return cluster.commit(commit)
    case .refused: throw StorageError(.unavailable, "the connection was refused", path: title)
    case .answerLost: _ = cluster.commit(commit)
    case .doneAndFull:
      guard let mark = cluster.commit(commit) else { return nil }
      throw StorageError(.full, "no room after \(mark)", path: title)
    case .late: cluster.keepForLater(commit)
    }
    throw StorageError(.outcomeUnknown, "the connection was cut", path: title)
  }

  /// The answer to a call that changes nothing.
  private func answer<Result>(_ body: () -> Result) throws(StorageError) -> Result {
    if case .done = fate() {
      defer { beforeAnswer() }
      return body()
    }
    throw StorageError(.unavailable, "the connection was cut", path: title)
  }
}
