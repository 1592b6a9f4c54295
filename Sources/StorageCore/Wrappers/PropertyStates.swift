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

    fileprivate init(_ states: PropertyStates) {
      self.states = states
      let queue = ChangeQueue()
      self.queue = queue
      let (store, name) = (states.store, states.name)
      observation = store.observe { change in
        if store.isChange(change, of: name) { queue.add(change) }
      }
      first = states.settle(queue)
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
      guard let change = await queue.next(isolation: actor) else { return nil }
      return states.state(of: change)
    }
  }

  /// The state now; what was queued before it is dropped, so that nothing comes twice.
  private func settle(_ queue: ChangeQueue) -> PropertyState<Value> {
    while true {
      queue.removeAll()
      let state = current()
      // A change during the read may or may not be in what was read: read again.
      if queue.isEmpty { return state }
    }
  }

  private func current() -> PropertyState<Value> {
    do throws(StorageError) {
      return try store.read(name, coder).map { .value($0) } ?? .absent
    } catch {
      return .failed(error)
    }
  }

  private func state(of change: RecordChange) -> PropertyState<Value> {
    guard let record = change.record else { return .absent }
    do throws(StorageError) {
      guard let open = try store.keys.forReading() else { return .absent }
      let context = RecordContext(
        store: open.store, name: change.name, authenticationTag: store.tag)
      let sealed = SealedStore.Sealed(record: record, keys: open, context: context)
      var value: Value?
      try store.open(sealed, name.text) { (payload) throws(StorageError) in
        value = try coder.decode(payload)
      }
      return value.map { .value($0) } ?? .absent
    } catch {
      return .failed(error)
    }
  }
}

/// A queue that one task takes from.
private final class ChangeQueue: Sendable {
  private struct State {
    var changes: [RecordChange] = []
    var waiting: CheckedContinuation<RecordChange?, Never>?
    var isCancelled = false
  }
  private let state = Lock(State())

  var isEmpty: Bool { state.withLock { $0.changes.isEmpty } }

  func removeAll() { state.withLock { $0.changes = [] } }

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
          if !state.changes.isEmpty { return (true, state.changes.removeFirst()) }
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
