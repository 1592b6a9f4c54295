internal import CryptoCore

/// The states of a property that is a record of a store.
struct RecordStates<Value>: Sendable {
  let store: SealedStore
  let name: RecordName
  let coder: ValueCoder<Value>

  /// Iterates over the states of a property.
  struct Iterator: AsyncIteratorProtocol {
    private let states: RecordStates
    private let queue = ChangeQueue()
    /// Nil until the iterator listens.
    private var observation: ChangeObservation?
    /// What the store held at the start; nil before the iterator listens and after that state was
    /// returned.
    private var beginning: Beginning?
    /// The record of a state that was read from the store.
    ///
    /// Its change notice may still arrive.
    private var readRecord: [UInt8]?
    private var told = Told()

    init(_ states: RecordStates) {
      self.states = states
      // A service may take long to answer, and this may be a thread of Swift concurrency.
      if !states.asksOthers {
        beginning = states.begin(queue)
        observation = beginning?.observation
      }
    }

    /// The next state; nil when the task is cancelled.
    mutating func next(
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

    /// The state after a change; nil when the change is of another property or repeats the last
    /// state.
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
          // The changes up to this record are older than the state just read; skip them.
          queue.removeAll(through: sealed.record, of: sealed.context.name)
          readRecord = sealed.record
        }
        return states.state(of: found.sealed)
      case .failure(let error):
        // The store can't tell which property these changes belong to, so report one failure for
        // all.
        guard told.failure != error else { return nil }
        (told.failure, told.isKnown) = (error, false)
        return isToldAlready(change) ? nil : .failed(error)
      }
    }

    /// Whether the change stored the record that was already read.
    ///
    /// No two records have the same bytes.
    private mutating func isToldAlready(_ change: RecordChange) -> Bool {
      defer { readRecord = nil }
      return change.record != nil && change.record == readRecord
    }
  }

  /// What the iterator remembers of the last state it returned.
  fileprivate struct Told: Sendable {
    /// How the store hashed names at that time.
    var nameSpace: OpenKeys.NameSpace?
    /// The record of that state, or nil when there was none.
    var record: [UInt8]?
    /// Whether `record` describes the state that was returned.
    var isKnown = false
    /// Why the store could not be opened, if that was the state.
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

  /// The record after a change: `sealed` is nil when the record was removed.
  fileprivate struct Found: Sendable {
    let sealed: SealedStore.Sealed?
    let nameSpace: OpenKeys.NameSpace
    /// Whether the record was read from the store just now, rather than taken from the change.
    var isRead = false
  }

  fileprivate var asksOthers: Bool { store.asksOthers }

  /// Starts listening and reads the record; afterwards the queue holds only later changes.
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
        // If a change arrived during the read, the read may or may not include it: read again.
        // Under constant writes give up after 8 attempts; the record read is then either found
        // among the queued changes or older than all of them.
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

  /// The record after a change; nil when the change is of another property or repeats the last
  /// state.
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
      // No key of the store opens this record. If a later change is queued, it gives the new state.
      if queue.holdsChange(of: context.name) { return .success(nil) }
      guard let space = store.keys.current?.nameSpace else {
        return .success(Found(sealed: nil, nameSpace: open.nameSpace))
      }
      // Names are hashed differently now, and the old hash holds nothing of this property.
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
    // The removed record used an old hash; a notice of the record that replaced it already came.
    guard space !== told.nameSpace else { return nil }
    // In a new store the property is absent until a notice says otherwise. In the same store names
    // are hashed anew, possibly without a notice: read.
    guard space.store == former.store else { return Found(sealed: nil, nameSpace: former) }
    return try read(space)
  }

  /// Reads the current record.
  private func read(_ space: OpenKeys.NameSpace) throws(StorageError) -> Found {
    let sealed = try store.fetch(name)
    return Found(sealed: sealed, nameSpace: sealed?.keys.nameSpace ?? space, isRead: true)
  }
}
