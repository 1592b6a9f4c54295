internal import CryptoCore
internal import StorageCore

/// A typed key as the source of live properties of a type.
struct LiveKeySource<Key: StorageKey, Value: Sendable & Equatable>: LiveSource {
  private let core: StoredCore<Key>
  private let wrap: @Sendable (Key.Value) throws(StorageError) -> Value
  private let unwrap: @Sendable (Value) throws(StorageError) -> Key.Value

  var name: StoreKey { core.name }
  var home: StorageRouter { core.home }
  var failedRead: FailedRead { core.failedRead }
  /// A test's router is another router.
  var isOfGivenPlace: Bool { true }

  func load() throws(StorageError) -> Value? {
    try core.load().map { (value) throws(StorageError) in try wrap(value) }
  }

  func save(_ value: Value?) throws(StorageError) {
    try core.save(value.map { (value) throws(StorageError) in try unwrap(value) })
  }

  func update<Result>(_ body: (inout Value?) throws -> Result) throws -> Result {
    try core.update { stored in
      var value = try stored.map(wrap)
      let result = try body(&value)
      stored = try value.map(unwrap)
      return result
    }
  }

  func write(_ value: Value, onlyIfAbsent: Bool) throws(StorageError) -> Bool {
    guard onlyIfAbsent else {
      try save(value)
      return true
    }
    return try storageErrors {
      try update { stored in
        guard stored == nil else { return false }
        stored = value
        return true
      }
    }
  }

  func contains() throws(StorageError) -> Bool { try core.contains() }

  func report(_ error: StorageError) { core.report(error) }

  // MARK: - Following the key

  /// Nil: a place tells that the value may have changed, and not what it is.
  func state(after _: RecordChange) throws(StorageError) -> PropertyState<Value>? { nil }

  var following: (hub: LiveHub, source: any LiveSource<Value>) {
    let (router, key) = (home.core, core.key)
    let hub = router.liveHubs.object(RouteKey(key)) {
      LiveHub { (onChange) throws(StorageError) in try router.observe(key, onChange) }
    }
    return (hub, self)
  }

  var states: PropertyStates<Value> {
    PropertyStates(of: name) { LiveKeyStates(self) }
  }

  /// Calls `receiver` with the state now, and after each change until the observation is released.
  ///
  /// A change of this process is read before the call that made it returns, so none is missed.
  ///
  /// - Returns: nil if the place can't be observed; the state then has the error.
  func observe(
    _ receiver: @escaping @Sendable (PropertyState<Value>) -> Void
  ) -> ChangeObservation? {
    // Locked while the place is read, so that states stay in order.
    let last = Lock<PropertyState<Value>?>(nil)
    let look = { @Sendable (isOwn: Bool) in
      last.withLock { last in
        let state = PropertyState { () throws(StorageError) in try load() }
        // A failure is told once, and a value that is there already only if this process stored it.
        if state == last {
          guard isOwn else { return }
          if case .failed = state { return }
        }
        last = state
        receiver(state)
      }
    }
    var observation: ChangeObservation?
    do throws(StorageError) { observation = try home.core.observe(core.key, look) } catch {}
    look(false)
    return observation
  }
}

/// Iterates over the states of a typed key; listening starts with the first call to `next`.
private struct LiveKeyStates<Key: StorageKey, Value: Sendable & Equatable>: AsyncIteratorProtocol {
  private let source: LiveKeySource<Key, Value>
  private var states: AsyncStream<PropertyState<Value>>.Iterator?
  private var observation: ChangeObservation?

  init(_ source: LiveKeySource<Key, Value>) { self.source = source }

  mutating func next(isolation actor: isolated (any Actor)?) async -> PropertyState<Value>? {
    if states == nil {
      let (stream, continuation) = AsyncStream.makeStream(of: PropertyState<Value>.self)
      states = stream.makeAsyncIterator()
      observation = await Blocking.run { [source] in source.observe { continuation.yield($0) } }
    }
    return await states?.next(isolation: actor)
  }
}

extension LiveKeySource where Value == Key.Value {
  init(_ core: StoredCore<Key>) {
    self.init(core: core, wrap: { $0 }, unwrap: { $0 })
  }
}

extension LiveKeySource {
  func mapped<New: Sendable & Equatable>(
    _ wrap: @escaping @Sendable (Value) throws(StorageError) -> New,
    _ unwrap: @escaping @Sendable (New) throws(StorageError) -> Value
  ) -> any LiveSource<New> {
    LiveKeySource<Key, New>(
      core: core,
      wrap: { (value) throws(StorageError) in try wrap(try self.wrap(value)) },
      unwrap: { (value) throws(StorageError) in try self.unwrap(try unwrap(value)) })
  }
}

extension RouterCore {
  /// Calls `onChange` after each write of this process at the place of a key, before the call that
  /// wrote returns, and after other writers may have written.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - onChange: is given whether this process wrote.
  /// - Returns: the observation, which lasts until it is released.
  /// - Throws: why the key has no route.
  func observe(
    _ key: some StorageKey, _ onChange: @escaping @Sendable (_ isOwn: Bool) -> Void
  ) throws(StorageError) -> ChangeObservation {
    let route = try route(for: key)
    let observations = [
      route.changes.add { _ in onChange(true) }, route.place.observe { onChange(false) },
    ]
    return ChangeObservation { withExtendedLifetime(observations) {} }
  }
}
