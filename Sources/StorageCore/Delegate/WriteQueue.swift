internal import CryptoCore
internal import Dispatch

/// Lets one thread of the process write at a time, for itself and for those that wait behind it.
///
/// A write costs an fsync(2) or two: threads that come meanwhile share the next one.
package final class WriteQueue: Sendable {
  private struct State {
    var waiting: [WriteTicket] = []
    var isLed = false
  }
  private let state = Lock(State())

  /// An empty queue.
  package init() {}

  /// Waits until somebody has settled `ticket`, or it is the caller's turn to lead.
  ///
  /// - Returns: whether the caller leads; then it must call ``leave()`` when it is done.
  package func enter(_ ticket: WriteTicket) -> Bool {
    let leads = state.withLock { state in
      guard state.isLed else {
        state.isLed = true
        return true
      }
      ticket.prepareToWait()
      state.waiting.append(ticket)
      return false
    }
    return leads || ticket.wait()
  }

  /// Takes those that may share the leader's write, in their order.
  package func takeFollowers() -> [WriteTicket] {
    state.withLock { state in
      let followers = Array(state.waiting.prefix { !$0.isAlone })
      state.waiting.removeFirst(followers.count)
      return followers
    }
  }

  /// Hands the lead on.
  package func leave() {
    let next = state.withLock { state -> WriteTicket? in
      state.isLed = !state.waiting.isEmpty
      return state.isLed ? state.waiting.removeFirst() : nil
    }
    next?.promote()
  }
}

/// A batch that waits to be written.
package final class WriteTicket: Sendable {
  package let writes: [RecordWrite]
  /// The header that the batch is for, or nil for any.
  package let headerVersion: UInt64?
  /// Whether it takes a turn of its own.
  package let isAlone: Bool
  /// How long it may wait for other processes; the time in the queue counts, or the waits of all
  /// that are before it would add up.
  package let end: ContinuousClock.Instant

  private let outcome = Lock<Result<CommitOutcome, StorageError>?>(nil)
  /// Only for one that waits.
  ///
  /// Not behind a lock: set once, before the ticket is in the queue, whose lock makes it known to
  /// those that take it out, and only read from then on.
  private nonisolated(unsafe) var isDecided: DispatchSemaphore?

  /// A batch for the file as it will be; an empty one for any header is a flush.
  package init(
    _ writes: [RecordWrite] = [], headerVersion: UInt64? = nil, isAlone: Bool = false,
    until end: ContinuousClock.Instant
  ) {
    self.end = end
    self.writes = writes
    self.headerVersion = headerVersion
    self.isAlone = isAlone
  }

  /// What is left of its time.
  package var remaining: Duration { max(.zero, ContinuousClock.now.duration(to: end)) }

  /// Says what became of the batch.
  package func settle(_ result: Result<CommitOutcome, StorageError>) {
    outcome.withLock { $0 = result }
    unsafe isDecided?.signal()
  }

  fileprivate func prepareToWait() { unsafe isDecided = DispatchSemaphore(value: 0) }

  /// Makes the waiting thread the leader.
  func promote() { unsafe isDecided?.signal() }

  /// What became of the batch, once that is decided.
  package var result: Result<CommitOutcome, StorageError>? { outcome.withLock { $0 } }

  /// Waits; true when the caller leads, false when the batch was settled.
  fileprivate func wait() -> Bool {
    unsafe isDecided?.wait()
    return result == nil
  }
}
