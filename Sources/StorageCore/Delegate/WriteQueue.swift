internal import CryptoCore
internal import Dispatch
internal import Glibc

/// Lets one thread of the process write at a time, for itself and for those that wait behind it.
///
/// A write costs an fsync(2) or two: threads that come meanwhile share the next one.
package final class WriteQueue: Sendable {
  private struct State {
    var waiting: [WriteTicket] = []
    var isLed = false
    /// How many shared the last write.
    var lastCount = 1
  }
  private let state = Lock(State())
  /// How often the processor is given up in one write for those that are expected.
  package static let turnLimit = 2

  /// An empty queue.
  package init() {}

  /// Waits until somebody has settled `ticket`, or it is the caller's turn to lead.
  ///
  /// - Returns: whether the caller leads; then it must call ``leave()`` when it is done.
  package func enter(_ ticket: WriteTicket) -> Bool {
    let turn = state.withLock { state -> DispatchSemaphore? in
      guard state.isLed else {
        state.isLed = true
        return nil
      }
      let turn = DispatchSemaphore(value: 0)
      unsafe ticket.turn = turn
      state.waiting.append(ticket)
      return turn
    }
    guard let turn else { return true }
    turn.wait()
    return state.withLock { _ in unsafe ticket.result == nil }
  }

  /// Takes those that may share the leader's write, in their order.
  package func takeFollowers() -> [WriteTicket] { take().followers }

  /// Takes those that may share the leader's write, and lets those come that shared the last one.
  ///
  /// The last commit has woken them, so they are about to write again: for a turn or two of the
  /// processor they are all in this write, where else half of them would be.
  ///
  /// - Parameters:
  ///   - count: how many share it already.
  ///   - turns: how often the processor may still be given up for those that are expected; begins
  ///     with ``turnLimit``.
  /// - Returns: those that came, in their order.
  package func gatherFollowers(besides count: Int, turns: inout Int) -> [WriteTicket] {
    var (followers, mayMoreCome) = take(besides: count)
    while followers.isEmpty, mayMoreCome, turns > 0 {
      turns -= 1
      sched_yield()
      (followers, mayMoreCome) = take(besides: count)
    }
    return followers
  }

  /// - Returns: those that wait, up to one that takes a turn of its own, and whether others are
  ///   expected that could be taken.
  private func take(besides count: Int = 0) -> (followers: [WriteTicket], mayMoreCome: Bool) {
    state.withLock { state in
      guard !state.waiting.isEmpty else { return ([], count < state.lastCount) }
      let followers = Array(state.waiting.prefix { !$0.isAlone })
      state.waiting.removeFirst(followers.count)
      return (followers, state.waiting.isEmpty && count + followers.count < state.lastCount)
    }
  }

  /// Says what became of the batches of the leader and of those it took; to be called by the leader.
  ///
  /// - Parameters:
  ///   - group: their tickets.
  ///   - result: what became of each, by its place in the group.
  package func settle(
    _ group: [WriteTicket], _ result: (Int) -> Result<CommitOutcome, StorageError>
  ) {
    state.withLock { state in
      state.lastCount = group.count
      for (index, ticket) in group.enumerated() { unsafe ticket.result = result(index) }
    }
    for ticket in group { unsafe ticket.turn?.signal() }
  }

  /// What became of a batch that was settled.
  ///
  /// - Throws: `StorageError`: what kept it from being written.
  package func outcome(of ticket: WriteTicket) throws(StorageError) -> CommitOutcome {
    guard let result = state.withLock({ _ in unsafe ticket.result }) else {
      throw StorageError(.io, "the write was dropped; this is a bug")
    }
    return try result.get()
  }

  /// Hands the lead on.
  package func leave() {
    let next = state.withLock { state -> WriteTicket? in
      state.isLed = !state.waiting.isEmpty
      return state.isLed ? state.waiting.removeFirst() : nil
    }
    unsafe next?.turn?.signal()
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

  /// What became of the batch, once that is decided.
  // Unchecked, since the lock is the queue's and not the ticket's own: `settle` sets it, `enter` and
  // `outcome(of:)` read it, all three inside `state.withLock`.
  fileprivate nonisolated(unsafe) var result: Result<CommitOutcome, StorageError>?
  /// Signalled when it is to lead and when it is settled; nil for one that did not wait.
  // Unchecked, since it is set once, inside `state.withLock`, before the ticket is in the queue: that
  // lock makes it known to whoever takes the ticket out, and from then on it is only read.
  fileprivate nonisolated(unsafe) var turn: DispatchSemaphore?

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
}
