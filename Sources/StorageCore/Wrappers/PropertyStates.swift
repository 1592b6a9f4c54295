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
    private var told = Told()

    fileprivate init(_ states: PropertyStates) {
      self.states = states
      let queue = ChangeQueue()
      self.queue = queue
      let (store, name) = (states.store, states.name)
      observation = store.observe { change in
        if store.mayBeChange(change, of: name) { queue.add(change) }
      }
      (first, firstRecord) = states.settle(queue, &told)
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
        guard let state = states.state(of: change, &told) else { continue }
        defer { firstRecord = nil }
        // No two records are the same bytes: this one was told already.
        if let record = change.record, record == firstRecord { continue }
        return state
      }
      return nil
    }
  }

  /// What of the state that was told last decides about the next.
  fileprivate struct Told {
    /// How names were hashed in the store that it is of.
    var nameSpace: OpenKeys.NameSpace?
    /// Why the store could not be opened, if it was that.
    var failure: StorageError?
  }

  /// The state now and its record; the queue then holds only what came after it.
  private func settle(
    _ queue: ChangeQueue, _ told: inout Told
  ) -> (PropertyState<Value>, [UInt8]?) {
    var attempts = 0
    while true {
      queue.removeAll()
      do throws(StorageError) {
        let sealed = try store.fetch(name)
        // A change during the read may or may not be in what was read: read again. Where others
        // write all the time, what was read is found among the changes, or is older than all.
        attempts += 1
        guard queue.isEmpty || attempts > 8 else { continue }
        if let open = sealed?.keys ?? store.keys.current {
          told.nameSpace = open.nameSpace
          queue.removeAll(through: sealed?.record, of: try name.context(in: open).name)
        }
        return (sealed.map { state(of: $0) } ?? .absent, sealed?.record)
      } catch {
        let error = error.about(name.text)
        told.failure = error
        return (.failed(error), nil)
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

  /// The state that a change led to, or nil when it is one of another property, or no news.
  private func state(of change: RecordChange, _ told: inout Told) -> PropertyState<Value>? {
    do throws(StorageError) {
      guard let (open, context) = try store.owner(of: change, name),
        let state = try state(of: change, open, context, told)
      else { return nil }
      told = Told(nameSpace: open.nameSpace)
      return state
    } catch {
      let error = error.about(name.text)
      // Whose changes these are can't be known: it is one failure, and not one for each of them.
      guard told.failure != error else { return nil }
      told.failure = error
      return .failed(error)
    }
  }

  private func state(
    of change: RecordChange, _ open: OpenKeys, _ context: RecordContext, _ told: Told
  ) throws(StorageError) -> PropertyState<Value>? {
    guard let record = change.record else {
      // From a store that is gone, after a state of the one in its place.
      if let space = store.keys.current?.nameSpace, space !== open.nameSpace,
        space === told.nameSpace
      {
        return nil
      }
      return .absent
    }
    // The change may be older or newer than the keys that are current.
    let id = SealedStore.header(of: record)?.keyID ?? open.primary.id
    guard let keys = try store.keys.holding(id, like: open) else { return nil }
    return state(of: SealedStore.Sealed(record: record, keys: keys, context: context))
  }
}

@available(*, unavailable)
extension PropertyStates.Iterator: Sendable {}

extension PropertyStates: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The key, and no value.
  public var description: String { "PropertyStates(\"\(name.text)\")" }
  /// The key, and no value.
  public var debugDescription: String { description }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension PropertyStates.Iterator: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The key, and no value.
  public var description: String { "\(states).Iterator" }
  /// The key, and no value.
  public var debugDescription: String { description }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
