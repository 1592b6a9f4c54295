internal import CryptoCore

/// The states of a property that is a record of a store.
struct RecordStates<Value>: Sendable {
  let store: SealedStore
  let name: RecordName
  let coder: ValueCoder<Value>

  /// Iterates over the states of a property.
  ///
  /// A notice only says that the store must be read again. One task reads, and each read begins
  /// after the notice, so no older state follows a newer one and the newest always comes.
  struct Iterator: AsyncIteratorProtocol {
    private let states: RecordStates
    private let signal = ChangeSignal()
    /// Nil until the iterator listens.
    private var observation: ChangeObservation?
    /// The state at the start, until it is returned.
    private var beginning: Found?
    /// What was returned last.
    private var last: Found?

    init(_ states: RecordStates) {
      self.states = states
      // A service may take long to answer, and this may be a thread of Swift concurrency.
      if !states.store.asksOthers {
        observation = states.observe(signal)
        beginning = states.find()
      }
    }

    /// The next state; nil when the task is cancelled.
    mutating func next(
      isolation actor: isolated (any Actor)?
    ) async -> PropertyState<Value>? {
      if observation == nil {
        observation = states.observe(signal)
        signal.send()
      }
      while true {
        let found: Found
        if let beginning {
          found = beginning
        } else if await !signal.wait(isolation: actor) {
          return nil
        } else if states.store.asksOthers {
          found = await Blocking.run { [states] in states.find() }
        } else {
          found = states.find()
        }
        beginning = nil
        if Task.isCancelled { return nil }
        if let last, found == last { continue }
        last = found
        return states.state(of: found)
      }
    }
  }

  /// What a read of the store gave: a record, nothing, or an error.
  fileprivate struct Found: Equatable, Sendable {
    let sealed: SealedStore.Sealed?
    var error: StorageError?

    /// No two records have the same bytes.
    static func == (one: Found, other: Found) -> Bool {
      one.error == other.error && one.sealed?.record == other.sealed?.record
    }
  }

  fileprivate func observe(_ signal: ChangeSignal) -> ChangeObservation {
    store.observe(name) { signal.send() }
  }

  fileprivate func find() -> Found {
    do throws(StorageError) {
      return Found(sealed: try store.fetch(name))
    } catch {
      return Found(sealed: nil, error: error.about(name.text))
    }
  }

  fileprivate func state(of found: Found) -> PropertyState<Value> {
    if let error = found.error { return .failed(error) }
    guard let sealed = found.sealed else { return .absent }
    var value: Value?
    do throws(StorageError) {
      try store.open(sealed, name.text) { (payload) throws(StorageError) in
        value = try coder.decode(payload)
      }
    } catch {
      return .failed(error)
    }
    return value.map { .value($0) } ?? .absent
  }
}

/// Wakes one task; several signals before it waits are one.
private final class ChangeSignal: Sendable {
  private struct State {
    var isSent = false
    var isCancelled = false
    var waiting: CheckedContinuation<Bool, Never>?
  }
  private let state = Lock(State())

  /// Called under the delegate's lock.
  func send() {
    let waiting = state.withLock { state in
      defer { state.waiting = nil }
      state.isSent = state.waiting == nil
      return state.waiting
    }
    waiting?.resume(returning: true)
  }

  /// Waits for a signal.
  ///
  /// - Returns: false when the task is cancelled.
  func wait(isolation: isolated (any Actor)?) async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer = state.withLock { state -> Bool? in
          if state.isCancelled { return false }
          precondition(state.waiting == nil, "one iterator is used by one task")
          if state.isSent {
            state.isSent = false
            return true
          }
          state.waiting = continuation
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let waiting = state.withLock { state in
        defer { state.waiting = nil }
        state.isCancelled = true
        return state.waiting
      }
      waiting?.resume(returning: false)
    }
  }
}
