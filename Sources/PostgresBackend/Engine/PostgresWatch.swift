internal import CryptoCore
internal import RemoteBackend
internal import StorageCore

/// One watch, on a thread and a connection of its own, from its beginning until it ends or is stopped.
///
/// A notification says that something has changed, and a question what. Without notifications, as through a
/// pooler in transaction mode, the question is asked each second.
final class PostgresWatch: Sendable {
  /// How often changes are asked for without a notification, and at most how often with them.
  private static let (interval, pause): (Int64, Int64) = (1_000_000_000, 10_000_000)
  /// How often removals are swept.
  private static let sweeps: Int64 = 60_000_000_000
  /// So many changes that no notification has told, one after the other, tell that none arrive.
  private static let limitOfUntold = 5

  private let engine: PostgresEngine
  private let begin: Mark
  private let tell: @Sendable (WatchSignal) -> Void
  private let isStopped = Lock(false)

  /// The watch of all rows, of changes after a mark.
  init(
    engine: PostgresEngine, from mark: Mark, _ tell: @escaping @Sendable (WatchSignal) -> Void
  ) { (self.engine, begin, self.tell) = (engine, mark, tell) }

  /// Ends the watch soon, without a last signal.
  func stop() { isStopped.withLock { $0 = true } }

  func run() {
    let end: RemoteEnd
    do throws(StorageError) {
      end = try follow(engine.connect(by: Deadline(after: .seconds(3))))
    } catch {
      end = .failed(error)
    }
    if !isStopped.withLock({ $0 }) { tell(.ended(end)) }
  }

  /// Tells of changes until the watch ends.
  private func follow(_ connection: PostgresConnection) throws(StorageError) -> RemoteEnd {
    do throws(PostgresFailure) { return try followOn(connection) } catch {
      throw engine.failed(error, at: connection.host)
    }
  }

  private func followOn(_ connection: PostgresConnection) throws(PostgresFailure) -> RemoteEnd {
    try connection.ask(engine.statements.listen, by: Deadline(after: .seconds(3)))
    // As a snapshot that has seen just what is at or before the mark.
    var snapshot = "\(begin &+ 1):\(begin &+ 1):"
    var known = begin
    var (untold, wasTold, hasSaid) = (0, true, false)
    var sweep = (before: Mark(0), time: MonotonicTime.now)
    while !isStopped.withLock({ $0 }) {
      let asked = MonotonicTime.now
      var changes: [Row] = []
      let moment = try engine.moment(
        connection, engine.statements.changes, [.text(engine.store), .text(snapshot)],
        isProof: false, by: Deadline(after: .seconds(30))
      ) { changes.append($0) }
      guard moment.swept <= known else { return .tooOld }
      (snapshot, known) = (moment.snapshot, max(known, moment.complete))
      tell(.changes(changes, moment.complete))
      untold = wasTold ? 0 : untold + (changes.isEmpty ? 0 : 1)
      if untold == Self.limitOfUntold, !hasSaid {
        hasSaid = true
        StorageDiagnostics.report(
          StorageError(
            .configurationConflict,
            "notifications do not arrive, as through a pooler in transaction mode, so changes are seen "
              + "up to a second later; connect to a server, or to a pooler in session mode",
            path: engine.title))
      }
      if asked.since(sweep.time) > Self.sweeps, !engine.isReadOnly {
        try self.sweep(connection, before: sweep.before)
        sweep = (moment.complete, asked)
      }
      wasTold = try wait(connection, after: asked)
    }
    return .tooOld
  }

  /// Forgets removals; a role that may not leaves that to others.
  private func sweep(
    _ connection: PostgresConnection, before: Mark
  ) throws(PostgresFailure) {
    do throws(PostgresFailure) {
      try connection.ask(
        engine.statements.sweep, [.text(engine.store), .transaction(before)],
        by: Deadline(after: .seconds(30)))
    } catch {
      if error.isFatal { throw error }
    }
  }

  /// Waits until it is time to ask again.
  ///
  /// - Returns: whether a notification told of a change.
  private func wait(
    _ connection: PostgresConnection, after asked: MonotonicTime
  ) throws(PostgresFailure) -> Bool {
    while true {
      let left = Self.interval - MonotonicTime.now.since(asked)
      guard left > 0, !isStopped.withLock({ $0 }) else { return false }
      guard try connection.notifications(within: left).contains(engine.store) else { continue }
      // What else comes soon is one question, too.
      asked.waitUntilPassed(Self.pause)
      return true
    }
  }
}
