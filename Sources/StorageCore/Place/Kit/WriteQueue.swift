internal import CryptoCore
internal import Dispatch
internal import Glibc

/// Lets one thread of the process, the leader, write at a time, for itself and for the threads that
/// wait.
///
/// A write costs an fsync(2) or two: threads that come during a write share the next write.
package final class WriteQueue: Sendable {
  private struct State {
    var waiting: [WriteTicket] = []
    var isLed = false
    /// How many threads shared the last write.
    var lastCount = 1
  }
  private let state = Lock(State())
  /// How often the leader yields the processor in one write to threads that are expected to join.
  package static let turnLimit = 2

  /// Makes an empty queue.
  package init() {}

  /// Writes a batch, alone or together with others.
  ///
  /// The thread waits until a leader has answered its batch, or until it leads itself. A leader
  /// writes its batch and those that wait, and answers each. If the shared write fails with one of
  /// `codes`, a single batch may be the cause, so the leader then writes each batch alone.
  ///
  /// - Parameters:
  ///   - ticket: the batch.
  ///   - codes: the errors that a single batch may have caused.
  ///   - afterwards: called in the lead, after the batches are answered.
  ///   - write: writes the batches of a group and returns their outcomes. While `isShared`, it may
  ///     add batches that it takes with ``takeFollowers()`` or
  ///     ``gatherFollowers(besides:turns:)``.
  /// - Returns: the outcome of the batch.
  /// - Throws: `StorageError`: why the batch was not written.
  package func perform(
    _ ticket: WriteTicket, aloneAfter codes: [StorageError.Code],
    afterwards: () -> Void = {},
    _ write: (_ group: inout [WriteTicket], _ isShared: Bool) throws(StorageError) ->
      [CommitOutcome]
  ) throws(StorageError) -> CommitOutcome {
    StorageDiagnostics.reportingAfterwards {
      guard enter(ticket) else { return }
      defer { leave() }
      var group = [ticket]
      do throws(StorageError) {
        let outcomes = try write(&group, true)
        answer(group) { .success(outcomes[$0]) }
      } catch {
        if group.count > 1, codes.contains(error.code) {
          for ticket in group { writeAlone(ticket, write) }
        } else {
          answer(group) { _ in .failure(error) }
        }
      }
      afterwards()
    }
    return try outcome(of: ticket)
  }

  private func writeAlone(
    _ ticket: WriteTicket,
    _ write: (_ group: inout [WriteTicket], _ isShared: Bool) throws(StorageError) ->
      [CommitOutcome]
  ) {
    var group = [ticket]
    do throws(StorageError) {
      let outcomes = try write(&group, false)
      answer(group) { .success(outcomes[$0]) }
    } catch {
      answer(group) { _ in .failure(error) }
    }
  }

  /// Runs `body` on the caller's thread while no other thread of this process writes.
  ///
  /// - Parameters:
  ///   - deadline: how long `body` may wait for other processes.
  ///   - body: gets the time at which the deadline ends.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws.
  package func alone<Result>(
    waiting deadline: Duration, _ body: (ContinuousClock.Instant) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    let ticket = WriteTicket(isAlone: true, until: .now + deadline)
    return try StorageDiagnostics.reportingAfterwards { () throws(StorageError) in
      let leads = enter(ticket)
      precondition(leads, "only its own thread answers a ticket that is alone")
      defer { leave() }
      return try body(ticket.end)
    }
  }

  /// Waits until a leader has answered `ticket`, or until it is the caller's turn to lead.
  ///
  /// - Returns: whether the caller leads; a leader must call ``leave()`` when it is done.
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

  /// Takes the waiting tickets that may share the leader's write, in order.
  package func takeFollowers() -> [WriteTicket] { take().followers }

  /// Takes the waiting tickets that may share the leader's write, and waits briefly for more.
  ///
  /// The last commit has woken the threads that shared it, so they are about to write again. If the
  /// leader yields the processor once or twice, all of them share this write; otherwise only half
  /// of them would.
  ///
  /// - Parameters:
  ///   - count: how many tickets share the write already.
  ///   - turns: how often the leader may still yield the processor; begins with ``turnLimit``.
  /// - Returns: the tickets that came, in order.
  package func gatherFollowers(besides count: Int, turns: inout Int) -> [WriteTicket] {
    var (followers, mayMoreCome) = take(besides: count)
    while followers.isEmpty, mayMoreCome, turns > 0 {
      turns -= 1
      sched_yield()
      (followers, mayMoreCome) = take(besides: count)
    }
    return followers
  }

  /// - Returns: the waiting tickets up to the first that needs a write of its own, and whether more
  ///   tickets are expected that could be taken.
  private func take(besides count: Int = 0) -> (followers: [WriteTicket], mayMoreCome: Bool) {
    state.withLock { state in
      guard !state.waiting.isEmpty else { return ([], count < state.lastCount) }
      let followers = Array(state.waiting.prefix { !$0.isAlone })
      state.waiting.removeFirst(followers.count)
      return (followers, state.waiting.isEmpty && count + followers.count < state.lastCount)
    }
  }

  /// Sets the results of the leader's batch and of the batches it took; the leader calls this.
  ///
  /// - Parameters:
  ///   - group: the tickets of the batches.
  ///   - result: gives the result of each batch by its index in `group`.
  package func answer(
    _ group: [WriteTicket], _ result: (Int) -> Result<CommitOutcome, StorageError>
  ) {
    state.withLock { state in
      state.lastCount = group.count
      for (index, ticket) in group.enumerated() { unsafe ticket.result = result(index) }
    }
    for ticket in group { unsafe ticket.turn?.signal() }
  }

  /// The result of a batch that was answered.
  ///
  /// - Throws: `StorageError`: why the batch was not written.
  package func outcome(of ticket: WriteTicket) throws(StorageError) -> CommitOutcome {
    guard let result = state.withLock({ _ in unsafe ticket.result }) else {
      throw StorageError(.io, "the write was dropped; this is a bug")
    }
    return try result.get()
  }

  /// Passes the lead to the next waiting thread.
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
  /// Whether the batch needs a write of its own.
  package let isAlone: Bool
  /// Until when the batch may wait for other processes.
  ///
  /// The time in the queue counts; otherwise the waits of all batches before it would add up.
  package let end: ContinuousClock.Instant

  /// The result of the batch, once it is answered.
  // Unchecked, since the lock is the queue's and not the ticket's own: `answer` sets it, `enter`
  // and `outcome(of:)` read it, all three inside `state.withLock`.
  fileprivate nonisolated(unsafe) var result: Result<CommitOutcome, StorageError>?
  /// Signalled when the ticket's thread has to lead and when the ticket is answered; nil if it did
  /// not wait.
  // Unchecked, since it is set once, inside `state.withLock`, before the ticket is in the queue.
  // That lock makes it visible to the thread that takes the ticket out, and from then on it is only
  // read.
  fileprivate nonisolated(unsafe) var turn: DispatchSemaphore?

  /// Makes a batch of writes.
  package init(
    _ writes: [RecordWrite] = [], headerVersion: UInt64? = nil, isAlone: Bool = false,
    until end: ContinuousClock.Instant
  ) {
    self.end = end
    self.writes = writes
    self.headerVersion = headerVersion
    self.isAlone = isAlone
  }

  /// How long the batch may still wait.
  package var remaining: Duration { end.remaining }
}

extension ContinuousClock.Instant {
  /// The time until this instant; zero when it has passed.
  package var remaining: Duration { max(.zero, ContinuousClock.now.duration(to: self)) }
}
