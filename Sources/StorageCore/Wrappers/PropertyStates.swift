public import CryptoCore

/// What a property holds now, then after every change, without end.
///
/// Changes of this process come all, and in order; of changes by another process at least the
/// latest comes, where the backend sees them. A change that was sealed under keys which were replaced
/// before the listener came to it is not opened any more: the listener gets what there is now. Any
/// number of listeners may iterate, from any isolation; each has a queue of its own, without bound,
/// that holds sealed records. Iteration ends when its task is cancelled.
public struct PropertyStates<Value>: AsyncSequence, Sendable {
  /// What is iterated over.
  public typealias Element = PropertyState<Value>

  let store: SealedStore
  let name: RecordName
  let coder: ValueCoder<Value>

  /// Starts listening; where the storage asks a service, with the first state that is asked for.
  public func makeAsyncIterator() -> Iterator {
    Iterator(self)
  }

  /// Goes through the states of a property.
  public struct Iterator: AsyncIteratorProtocol {
    private let states: PropertyStates
    private let queue = ChangeQueue()
    /// Nil until it listens.
    private var observation: ChangeObservation?
    /// Nil until it listens, and once it was told.
    private var beginning: Beginning?
    /// The record of a state that was read, whose notice may still be on its way.
    private var readRecord: [UInt8]?
    private var told = Told()

    fileprivate init(_ states: PropertyStates) {
      self.states = states
      // A service may take its time to answer, and this may be a thread of Swift's own.
      if !states.asksOthers {
        beginning = states.begin(queue)
        observation = beginning?.observation
      }
    }

    /// The next state; nil when the task is cancelled.
    public mutating func next() async -> PropertyState<Value>? {
      await next(isolation: nil)
    }

    /// The next state; nil when the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async -> PropertyState<Value>? {
      if observation == nil {
        beginning = await Blocking.run { [states, queue] in states.begin(queue) }
        observation = beginning?.observation
      }
      if let beginning {
        self.beginning = nil
        told = beginning.told
        readRecord = beginning.record
        return Task.isCancelled ? nil : states.state(of: beginning)
      }
      while let change = await queue.next(isolation: actor) {
        if let state = await state(of: change, isolation: actor) { return state }
      }
      return nil
    }

    /// The state that a change led to, or nil when it is one of another property, or no news.
    private mutating func state(
      of change: RecordChange, isolation actor: isolated (any Actor)?
    ) async -> PropertyState<Value>? {
      let found: Result<Found?, StorageError>
      if states.asksOthers {
        found = await Blocking.run { [states, queue, told] in states.find(change, told, queue) }
      } else {
        found = states.find(change, told, queue)
      }
      switch found {
      case .success(nil): return nil
      case .success(let found?):
        let isRepeated = found.isRead && told.isKnown && told.record == found.sealed?.record
        told = Told(
          nameSpace: found.nameSpace, record: found.sealed?.record, isKnown: true)
        guard !isToldAlready(change), !isRepeated else { return nil }
        if let sealed = found.sealed, found.isRead {
          // What led to it is older, and itself no news.
          queue.removeAll(through: sealed.record, of: sealed.context.name)
          readRecord = sealed.record
        }
        return states.state(of: found.sealed)
      case .failure(let error):
        // Whose changes these are can't be known: it is one failure, and not one for each of them.
        guard told.failure != error else { return nil }
        (told.failure, told.isKnown) = (error, false)
        return isToldAlready(change) ? nil : .failed(error)
      }
    }

    /// Whether a change led to the record that was read before; no two records are the same bytes.
    private mutating func isToldAlready(_ change: RecordChange) -> Bool {
      defer { readRecord = nil }
      return change.record != nil && change.record == readRecord
    }
  }

  /// What of the state that was told last decides about the next.
  fileprivate struct Told: Sendable {
    /// How names were hashed in the store that it is of.
    var nameSpace: OpenKeys.NameSpace?
    /// The record that was told, or nil when there was none.
    var record: [UInt8]?
    /// Whether `record` says what was told.
    var isKnown = false
    /// Why the store could not be opened, if it was that.
    var failure: StorageError?
  }

  /// What the store held when a listener began to listen.
  fileprivate struct Beginning: Sendable {
    let observation: ChangeObservation
    let sealed: Result<SealedStore.Sealed?, StorageError>
    let told: Told

    var record: [UInt8]? {
      if case .success(let sealed) = sealed { sealed?.record } else { nil }
    }
  }

  /// Where a change has led to: nil in `sealed` when the record was removed.
  fileprivate struct Found: Sendable {
    let sealed: SealedStore.Sealed?
    let nameSpace: OpenKeys.NameSpace
    /// Whether it is what there is now, and not of the change alone.
    var isRead = false
  }

  fileprivate var asksOthers: Bool { store.asksOthers }

  /// Listens, and reads; the queue then holds only what came after.
  fileprivate func begin(_ queue: ChangeQueue) -> Beginning {
    let observation = store.observe { change in
      if store.mayBeChange(change, of: name) { queue.add(change) }
    }
    var told = Told()
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
          (told.record, told.isKnown) = (sealed?.record, true)
          queue.removeAll(through: sealed?.record, of: try name.context(in: open).name)
        }
        return Beginning(observation: observation, sealed: .success(sealed), told: told)
      } catch {
        let error = error.about(name.text)
        told.failure = error
        return Beginning(observation: observation, sealed: .failure(error), told: told)
      }
    }
  }

  fileprivate func state(of beginning: Beginning) -> PropertyState<Value> {
    switch beginning.sealed {
    case .success(let sealed): state(of: sealed)
    case .failure(let error): .failed(error)
    }
  }

  fileprivate func state(of sealed: SealedStore.Sealed?) -> PropertyState<Value> {
    guard let sealed else { return .absent }
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

  /// Where a change has led to, or nil when it is one of another property, or no news.
  fileprivate func find(
    _ change: RecordChange, _ told: Told, _ queue: ChangeQueue
  ) -> Result<Found?, StorageError> {
    do throws(StorageError) {
      guard let (open, context) = try store.owner(of: change, name) else { return .success(nil) }
      guard change.record != nil else {
        return .success(try findAfterRemoval(change, told, open.nameSpace))
      }
      if let sealed = try store.opening(change, named: name) {
        return .success(Found(sealed: sealed, nameSpace: sealed.keys.nameSpace))
      }
      // No key that the store has now opens it. A later change says what became of it, if one waits.
      if queue.holdsChange(of: context.name) { return .success(nil) }
      guard let space = store.keys.current?.nameSpace else {
        return .success(Found(sealed: nil, nameSpace: open.nameSpace))
      }
      // Under the hash that the name had before there is nothing of this property.
      if space !== open.nameSpace, space === told.nameSpace { return .success(nil) }
      return .success(try read(space))
    } catch {
      return .failure(error.about(name.text))
    }
  }

  private func findAfterRemoval(
    _ change: RecordChange, _ told: Told, _ former: OpenKeys.NameSpace
  ) throws(StorageError) -> Found? {
    guard let space = try store.nameSpace(after: change), space !== former else {
      return Found(sealed: nil, nameSpace: former)
    }
    // The record that is gone says nothing of the one in its place, of which there was a notice.
    guard space !== told.nameSpace else { return nil }
    // In another store there is nothing until a notice says so; in this one names are hashed
    // anew, of which there may be none.
    guard space.store == former.store else { return Found(sealed: nil, nameSpace: former) }
    return try read(space)
  }

  /// What there is now.
  private func read(_ space: OpenKeys.NameSpace) throws(StorageError) -> Found {
    let sealed = try store.fetch(name)
    return Found(sealed: sealed, nameSpace: sealed?.keys.nameSpace ?? space, isRead: true)
  }
}

@available(*, unavailable)
extension PropertyStates.Iterator: Sendable {}

extension PropertyStates: RedactedDescription {
  /// The key, and no value.
  public var description: String { "PropertyStates(\"\(name.text)\")" }
}

extension PropertyStates.Iterator: RedactedDescription {
  /// The key, and no value.
  public var description: String { "\(states).Iterator" }
}
