package import CryptoCore
internal import Glibc
package import StorageCore

/// An engine that many machines share: rows of bytes, each with a version, and commits that check
/// versions.
///
/// What is not the engine is in ``RemotePlace``. An engine promises:
/// - A commit is one atomic, durable and linearizable step. Nothing but ``commit(_:by:)`` writes,
///   and no call repeats a commit by itself.
/// - The version of a row grows with each write of the row. It is the ``Mark`` of the commit that
///   wrote it. Commits may come to be seen in another order than that of their marks.
/// - No call takes longer than its deadline and a moment.
/// - An error of ``commit(_:by:)`` with the code `outcomeUnknown` means that the commit may have
///   been made, or may still be made. With the code `full` it may have been made, and won't be later.
///   After any other error it was not made and never will be.
package protocol RemoteEngine: Sendable {
  /// Names the engine in errors, for example its addresses; shows no secret.
  var title: String { get }

  /// What one commit can take.
  var limits: RemoteLimits { get }

  /// Tells this engine's history from others: a cluster that was made anew has another one.
  ///
  /// - Throws: `StorageError` when the engine can't be reached.
  func history(by deadline: Deadline) throws(StorageError) -> String

  /// Reads rows at one moment, which is not earlier than the call.
  ///
  /// - Returns: the rows in the order of the keys, without a value where there is none, and a mark that
  ///   no commit seen at the moment is later than.
  /// - Throws: `StorageError` when no quorum answers.
  func read(
    _ keys: [RowKey], by deadline: Deadline
  ) throws(StorageError) -> (rows: [Row], mark: Mark)

  /// Makes a commit, or nothing of it.
  ///
  /// - Returns: the mark of the commit; nil when a check failed, so that nothing was done.
  /// - Throws: `StorageError`; see above.
  func commit(_ commit: RemoteCommit, by deadline: Deadline) throws(StorageError) -> Mark?

  /// Reads all rows below the prefix at one moment, which is not earlier than the call.
  ///
  /// - Parameters:
  ///   - keysOnly: whether the values are left out.
  ///   - deadline: when to give up.
  ///   - body: is called with the rows, page by page, and with the removals that are later than the
  ///     moment's ``Moment/complete``.
  /// - Returns: the moment.
  /// - Throws: `StorageError`, or what `body` throws.
  func list(
    keysOnly: Bool, by deadline: Deadline, _ body: ([Row]) throws(StorageError) -> Void
  ) throws(StorageError) -> Moment

  /// Calls `tell` with each change after a mark, in order, until the watch is released or ends.
  ///
  /// It is a hint and not the truth: an engine may lose a change. `tell` is called by one thread at
  /// a time. ``WatchSignal/ended(_:)`` is the last call.
  func watch(
    from mark: Mark, _ tell: @escaping @Sendable (WatchSignal) -> Void
  ) -> ChangeObservation
}

// What engines have in common.
extension RemoteEngine {
  /// Refuses a child of fork(2), which must leave its parent's connections alone.
  ///
  /// - Throws: `unsupported`.
  package func require(_ process: OwnProcess, of name: String) throws(StorageError) {
    guard process.isCurrent else {
      throw StorageError(
        .unsupported,
        "\(name) can't be used in a forked child of a program that uses it; exec first", path: title
      )
    }
  }

  /// Sleeps after all servers were asked in vain, from 50 ms to `most` microseconds, with a random part so
  /// that a thousand programs don't meet at a server that is starting.
  package func pause(after failures: Int, atMost most: Int64, by deadline: Deadline) {
    let most = min(50_000 << Int64(min(failures, 6)), most)
    // Nothing signals that a server is back, so this sleeps.
    usleep(UInt32(min(Int64.random(in: most / 2...most), deadline.nanoseconds / 1000)))
  }
}

/// The name of a row below the store's prefix.
package enum RowKey: Hashable, Sendable {
  /// The header of the store.
  case header
  /// A record, under its hashed name.
  case record(NameHash)
  /// The row by which one writer's commits are told apart; see ``Lane``.
  case lane(LaneID)

  /// The bytes of the name: a letter, then a hash or an id.
  package var bytes: [UInt8] {
    switch self {
    case .header: Array("h".utf8)
    case .record(let name): Array("r".utf8) + name.bytes
    case .lane(let id): Array("l".utf8) + id.bytes
    }
  }

  /// The row of these bytes; nil for bytes that name none.
  package init?(_ bytes: some Collection<UInt8>) {
    let rest = bytes.dropFirst()
    switch bytes.first {
    case UInt8(ascii: "h") where rest.isEmpty: self = .header
    case UInt8(ascii: "r"):
      guard let name = NameHash(Array(rest)) else { return nil }
      self = .record(name)
    case UInt8(ascii: "l"):
      guard let id = LaneID(Array(rest)) else { return nil }
      self = .lane(id)
    default: return nil
    }
  }
}

/// A commit's place in an engine's history.
package typealias Mark = UInt64

/// What was seen of an engine's history in one answer.
package struct Moment: Sendable {
  /// All commits up to this one were seen, and no further one up to it will be made; at most `latest`.
  package let complete: Mark
  /// No later commit was seen; never smaller than in an earlier moment.
  package let latest: Mark

  /// Makes a moment.
  package init(complete: Mark, latest: Mark) { (self.complete, self.latest) = (complete, latest) }
}

/// One row, or that there is none.
package struct Row: Sendable {
  /// Its name.
  package let key: RowKey
  /// Its bytes, empty where only keys were asked for; nil if there is no such row.
  package let value: [UInt8]?
  /// The mark of the commit that wrote it, and never 0; where there is none, of a time since when
  /// there was none.
  package let version: Mark

  /// Makes a row.
  package init(_ key: RowKey, _ value: [UInt8]?, version: Mark) {
    (self.key, self.value, self.version) = (key, value, version)
  }
}

/// What one commit checks and writes.
package struct RemoteCommit: Sendable {
  /// The versions that the rows must have; 0 for a row that must not exist.
  package var checks: [(key: RowKey, version: Mark)]
  /// The new values of rows; nil removes a row.
  package var writes: [(key: RowKey, value: [UInt8]?)]

  /// Makes a commit.
  package init(
    checks: [(key: RowKey, version: Mark)], writes: [(key: RowKey, value: [UInt8]?)]
  ) {
    (self.checks, self.writes) = (checks, writes)
  }
}

/// What one commit can take.
package struct RemoteLimits: Sendable {
  /// The most checks, and the most writes.
  package let operations: Int
  /// The most bytes of names and values.
  package let bytes: Int

  /// Makes limits.
  package init(operations: Int, bytes: Int) { (self.operations, self.bytes) = (operations, bytes) }
}

/// What a watch tells.
package enum WatchSignal: Sendable {
  /// All changes up to a mark since the last signal, and perhaps later ones.
  case changes([Row], Mark)
  /// The watch has ended. With ``RemoteEnd/tooOld``, changes were missed for good.
  case ended(RemoteEnd)
}

/// Why a watch has ended.
package enum RemoteEnd: Sendable {
  /// The engine no longer has the changes since the mark.
  case tooOld
  /// The connection or the member failed.
  case failed(StorageError)
}

/// How new a value is that a reader gets.
package enum Reading: Sendable {
  /// What memory has, which a watch keeps current.
  case cached
  /// What memory has if it is at most so old, and else the engine's.
  case cachedFor(Duration)
  /// The engine's, no older than the call.
  case linearizable
}

/// What tells the time; a simulation has one of its own.
package struct RemoteClock: Sendable {
  /// The time.
  package let now: @Sendable () -> MonotonicTime

  /// Makes a clock.
  package init(now: @escaping @Sendable () -> MonotonicTime) { self.now = now }

  /// The clock of the machine.
  package static let machine = RemoteClock { .now }
}

/// When a call gives up.
package struct Deadline: Sendable {
  private let end: Int64
  private let clock: RemoteClock

  /// A deadline that is `span` from now.
  package init(after span: Duration, _ clock: RemoteClock = .machine) {
    self.clock = clock
    end = clock.now().later(by: span).nanoseconds
  }

  /// How much time is left, in nanoseconds; 0 when it is over.
  package var nanoseconds: Int64 { max(end - clock.now().nanoseconds, 0) }

  /// The earlier one of this deadline and one that is `span` from now.
  func within(_ span: Duration) -> Deadline {
    let other = Deadline(after: span, clock)
    return other.end < end ? other : self
  }

  /// Whether it is over.
  package var isOver: Bool { nanoseconds == 0 }
}
