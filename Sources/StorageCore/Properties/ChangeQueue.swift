internal import CryptoCore

/// A queue of record changes with one consumer task.
///
/// A consumer that is 16,384 changes behind gets only the last change of each name.
final class ChangeQueue: Sendable {
  private struct State {
    var changes: [RecordChange] = []
    /// How many elements of `changes` the consumer has taken.
    ///
    /// Removing the first element of an array moves all others, so taken elements are removed in
    /// batches.
    var taken = 0
    var waiting: CheckedContinuation<RecordChange?, Never>?
    var isCancelled = false
    /// With so many waiting changes, only the last one of each name stays.
    var limit = ChangeQueue.limit

    mutating func append(_ change: RecordChange) {
      changes.append(change)
      guard changes.count - taken >= limit else { return }
      var names: Set<NameHash> = []
      let last = changes[taken...].reversed().filter { names.insert($0.name).inserted }
      (changes, taken) = (last.reversed(), 0)
      limit = max(ChangeQueue.limit, 2 * changes.count)
    }

    mutating func take() -> RecordChange? {
      guard taken < changes.count else { return nil }
      let change = changes[taken]
      taken += 1
      if taken * 2 >= changes.count {
        changes.removeFirst(taken)
        taken = 0
      }
      return change
    }
  }
  fileprivate static let limit = 16_384
  private let state = Lock(State())

  var isEmpty: Bool { state.withLock { $0.changes.isEmpty } }

  /// Empties the queue.
  ///
  /// Call it only before the consumer has taken an element.
  func removeAll() { state.withLock { $0.changes = [] } }

  /// Removes all changes up to the last one that stored `record` under `name`; without one, removes
  /// nothing.
  func removeAll(through record: [UInt8]?, of name: NameHash) {
    state.withLock { state in
      let last = state.changes[state.taken...].lastIndex { $0.name == name && $0.record == record }
      guard let last else { return }
      state.changes.removeFirst(last + 1)
      state.taken = 0
    }
  }

  /// Whether a change of the record under `name` is waiting in the queue.
  func holdsChange(of name: NameHash) -> Bool {
    state.withLock { state in state.changes[state.taken...].contains { $0.name == name } }
  }

  /// Appends a change.
  ///
  /// Called under the delegate's lock, in the order of the changes.
  func add(_ change: RecordChange) {
    let waiting = state.withLock { state in
      defer { state.waiting = nil }
      if state.waiting == nil { state.append(change) }
      return state.waiting
    }
    waiting?.resume(returning: change)
  }

  func next(isolation: isolated (any Actor)?) async -> RecordChange? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (isReady, change) = state.withLock { state -> (Bool, RecordChange?) in
          if state.isCancelled { return (true, nil) }
          if let change = state.take() { return (true, change) }
          precondition(state.waiting == nil, "one iterator is used by one task")
          state.waiting = continuation
          return (false, nil)
        }
        if isReady { continuation.resume(returning: change) }
      }
    } onCancel: {
      let waiting = state.withLock { state in
        defer { state.waiting = nil }
        state.isCancelled = true
        return state.waiting
      }
      waiting?.resume(returning: nil)
    }
  }
}
