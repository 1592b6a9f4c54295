internal import CryptoCore

/// What a property holds now, then after every change, without end.
///
/// Changes of this process come all, and in order; of changes by another process at least the
/// latest comes, where the backend sees them. Any number of listeners may iterate, from any
/// isolation; each has a queue of its own, without bound, that holds sealed records. Iteration ends
/// when its task is cancelled.
public struct PropertyStates<Value>: AsyncSequence, Sendable {
  /// What is iterated over.
  public typealias Element = PropertyState<Value>

  let store: SealedStore
  let name: RecordName
  let coder: ValueCoder<Value>

  /// Starts listening.
  public func makeAsyncIterator() -> Iterator {
    Iterator(self)
  }

  /// Goes through the states of a property.
  public struct Iterator: AsyncIteratorProtocol {
    private let states: PropertyStates
    private let queue: ChangeQueue
    private let observation: Observation
    private var first: PropertyState<Value>?
    /// The record of `first`, whose notice may still be on its way.
    private var firstRecord: [UInt8]?

    fileprivate init(_ states: PropertyStates) {
      self.states = states
      let queue = ChangeQueue()
      self.queue = queue
      let (store, name) = (states.store, states.name)
      observation = store.observe { change in
        if store.mayBeChange(change, of: name) { queue.add(change) }
      }
      (first, firstRecord) = states.settle(queue)
    }

    /// The next state; nil when the task is cancelled.
    public mutating func next() async -> PropertyState<Value>? {
      await next(isolation: nil)
    }

    /// The next state; nil when the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async -> PropertyState<Value>? {
      if let state = first {
        first = nil
        return Task.isCancelled ? nil : state
      }
      while let change = await queue.next(isolation: actor) {
        guard let state = states.state(of: change) else { continue }
        defer { firstRecord = nil }
        // No two records are the same bytes: this one was told already.
        if let record = change.record, record == firstRecord { continue }
        return state
      }
      return nil
    }
  }

  /// The state now and its record; the queue then holds only what came after it.
  private func settle(_ queue: ChangeQueue) -> (PropertyState<Value>, [UInt8]?) {
    var attempts = 0
    while true {
      queue.removeAll()
      do throws(StorageError) {
        let sealed = try store.fetch(name)
        // A change during the read may or may not be in what was read: read again. Where others
        // write all the time, what was read is found among the changes, or is older than all.
        attempts += 1
        guard queue.isEmpty || attempts > 8 else { continue }
        queue.removeAll(through: sealed?.record)
        return (sealed.map { state(of: $0) } ?? .absent, sealed?.record)
      } catch {
        return (.failed(error.about(name.text)), nil)
      }
    }
  }

  private func state(of sealed: SealedStore.Sealed) -> PropertyState<Value> {
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

  /// The state that a change led to, or nil when it is one of another property.
  private func state(of change: RecordChange) -> PropertyState<Value>? {
    do throws(StorageError) {
      guard let open = try store.keys.forReading() else { return .absent }
      let context = try name.context(in: open)
      guard context.name == change.name else { return nil }
      guard let record = change.record else { return .absent }
      // The change may be older or newer than the keys that are current.
      let id = SealedStore.header(of: record)?.keyID ?? open.primary.id
      let keys = try store.keys.holding(id) ?? open
      return state(of: SealedStore.Sealed(record: record, keys: keys, context: context))
    } catch {
      return .failed(error.about(name.text))
    }
  }
}

/// A queue that one task takes from.
private final class ChangeQueue: Sendable {
  private struct State {
    var changes: [RecordChange] = []
    /// How many of `changes` were taken: removing the first of an array moves all others.
    var taken = 0
    var waiting: CheckedContinuation<RecordChange?, Never>?
    var isCancelled = false

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
  private let state = Lock(State())

  var isEmpty: Bool { state.withLock { $0.changes.isEmpty } }

  /// Empties the queue; nothing may have been taken from it yet.
  func removeAll() { state.withLock { $0.changes = [] } }

  /// Removes all up to the last that led to `record`; none if none did. Before the first is taken.
  func removeAll(through record: [UInt8]?) {
    state.withLock { state in
      guard let last = state.changes.lastIndex(where: { $0.record == record }) else { return }
      state.changes.removeFirst(last + 1)
    }
  }

  /// Called under the delegate's lock, in the order of the changes.
  func add(_ change: RecordChange) {
    let waiting = state.withLock { state in
      defer { state.waiting = nil }
      if state.waiting == nil { state.changes.append(change) }
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

/// The values of a property: now, then after every change, without end.
///
/// As ``PropertyStates``, but for failures: a state that failed is no value, so it is left out here
/// and reported to the storage's error closure.
public struct PropertyValues<Value, Element>: AsyncSequence {
  private let states: PropertyStates<Value>
  private let report: @Sendable (StorageError) -> Void
  /// What stands for no value.
  private let fallback: Element
  private let wrap: @Sendable (Value) -> Element

  init(
    _ states: PropertyStates<Value>, report: @escaping @Sendable (StorageError) -> Void,
    fallback: Element, _ wrap: @escaping @Sendable (Value) -> Element
  ) {
    self.states = states
    self.report = report
    self.fallback = fallback
    self.wrap = wrap
  }

  /// Starts listening.
  public func makeAsyncIterator() -> Iterator {
    Iterator(base: states.makeAsyncIterator(), values: self)
  }

  /// Goes through the values of a property.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var base: PropertyStates<Value>.Iterator
    fileprivate let values: PropertyValues

    /// The next value; nil when the task is cancelled.
    public mutating func next() async -> Element? {
      await next(isolation: nil)
    }

    /// The next value; nil when the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      while let state = await base.next(isolation: actor) {
        switch state {
        case .absent: return values.fallback
        case .value(let value): return values.wrap(value)
        case .failed(let error): values.report(error)
        }
      }
      return nil
    }
  }
}

extension PropertyValues: Sendable where Element: Sendable {}

@available(*, unavailable)
extension PropertyValues.Iterator: Sendable {}

@available(*, unavailable)
extension PropertyStates.Iterator: Sendable {}
