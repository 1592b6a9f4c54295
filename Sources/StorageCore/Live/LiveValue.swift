public import CryptoCore
public import Observation
public import Synchronization

/// A value that is kept decoded in memory and follows its storage.
///
/// All live properties of one place, key and type share one object. It starts to follow the storage
/// with the first of these properties, and stops when the last one is released.
///
/// It is `Observable`: `withObservationTracking` and `Observations` report each change, no matter
/// who made it, but not a change to an equal value. Both are for state: of several changes in quick
/// succession they may report only the last. The closure `onChange` runs after the change, on the
/// thread that changed the value or on a thread of the package, while no lock is held. One thread at
/// a time notifies the observers of a value. An `onChange` that does not return therefore blocks the
/// notices to the value's other observers; readers, writers and ``Live/states`` continue. In
/// `onChange`, hand over to a task or a queue, and return. An observer whose closure takes longer
/// than half a second may miss a change that another thread makes meanwhile.
///
/// `Value` is an optional type, and nil means that there is no value. Any thread may use the
/// object. The value stays in memory in the clear as long as the object lives.
public final class LiveValue<Value: Sendable & Equatable>: Observable, Sendable {
  @usableFromInline let hub: LiveHub
  @usableFromInline let node: LiveNode
  /// Reads the value.
  let source: any LiveSource<Value>
  /// The value that stands for an absent one.
  let absent: Value
  @usableFromInline let memory: BriefLock<LiveMemory<Value>>
  @usableFromInline let observers = LiveObservers<Value>()
  /// The failure for which a getter last returned the default, until the program has the value.
  let defaults = FailedReads()
  /// Which observers are to be told.
  let notices = Lock(LiveNotices())

  init(
    _ hub: LiveHub, _ node: LiveNode, _ source: any LiveSource<Value>, absent: Value
  ) {
    (self.hub, self.node) = (hub, node)
    self.source = source
    self.absent = absent
    memory = BriefLock(LiveMemory(absent))
  }

  deinit { hub.remove(node) }

  /// The key.
  public var key: StoreKey { node.name.text }

  /// The value; nil when there is none.
  ///
  /// If the value can't be read, this is the last one that could be read, or nil if there was none.
  /// The error closure is told: once for each stored value that can't be read while there is an
  /// earlier one, else at each read.
  ///
  /// After the first read, a read costs no decryption and no system call as long as nothing
  /// changes. A read sees everything that any thread of this process has written before. After a
  /// failed read, each further read asks the storage again.
  public var value: Value {
    @inlinable get { isClean ? observed() : read() }
  }

  /// The current state; unlike ``value``, it tells absent from failed.
  public var state: PropertyState<Value> {
    if let refusal = hub.store?.keys.owner?.refusal { return .failed(refusal.about(key)) }
    let snapshot = readUpToDate()
    if let error = snapshot.error { return .failed(error) }
    forgetDefault()
    return snapshot.isAbsent ? .absent : .value(snapshot.value)
  }

  /// Reads the value; nil when there is none.
  ///
  /// - Throws: `StorageError` when the value could not be read.
  public func load() throws(StorageError) -> Value {
    if let refusal = hub.store?.keys.owner?.refusal { throw refusal.about(key) }
    let snapshot = readUpToDate()
    if let error = snapshot.error { throw error }
    forgetDefault()
    return snapshot.value
  }

  // MARK: - Reading

  /// Whether the value in memory is up to date.
  @inlinable @inline(__always)
  var isClean: Bool {
    !node.attention.load(ordering: .acquiring) && !hub.isDoubtful.load(ordering: .acquiring)
  }

  /// The value in memory.
  @inlinable @inline(__always)
  func observed() -> Value {
    let (value, generation) = memory.withLock { ($0.value, $0.generation) }
    observers.noteAccess(to: self, generation)
    return value
  }

  /// The value after all notices; an error goes to `receiver`, or to the storage's error closure.
  @usableFromInline
  func read(orReport receiver: ((StorageError) -> Void)? = nil) -> Value {
    if let refusal = hub.store?.keys.owner?.refusal {
      // Nothing is remembered or shown to observers: the value is another test's, and unharmed.
      if let receiver { receiver(refusal.about(key)) } else { source.report(refusal.about(key)) }
      return absent
    }
    let snapshot = readUpToDate()
    guard let error = snapshot.error else {
      forgetDefault()
      return snapshot.value
    }
    // An assignment may be computed from the value that is returned here.
    node.taint { defaults.remember(key, error, gaveDefault: true) }
    // Always without a value, else once.
    let isReported = memory.withLock { memory in
      guard memory.version == snapshot.version else { return snapshot.isReported }
      defer { memory.isReported = true }
      return memory.isReported
    }
    if !isReported || !snapshot.isOfStore {
      let error = snapshot.isOfStore ? error.keepingLastValue : error
      if let receiver { receiver(error) } else { source.report(error) }
    }
    return snapshot.value
  }

  /// Ends what a failed read refuses: the program has the value now, or replaced it on purpose.
  ///
  /// Only the program's own reads end it. The hub's queue may read the value between a getter that
  /// returned the default and the assignment that was computed from it.
  func forgetDefault() {
    defaults.forget(key)
    guard node.attention.load(ordering: .relaxed) else { return }
    node.clean { snapshot.error == nil && defaults.count == 0 }
  }

  /// What memory has after all notices; a failed read is tried again.
  func upToDate() -> LiveMemory<Value> {
    if !isClean {
      if snapshot.error != nil { node.note(.look) }
      catchUp()
    }
    return snapshot
  }

  /// The same, for a reader that is told when the value changes.
  private func readUpToDate() -> LiveMemory<Value> {
    let snapshot = upToDate()
    observers.noteAccess(to: self, snapshot.generation)
    return snapshot
  }

  /// What memory has.
  var snapshot: LiveMemory<Value> { memory.withLock { $0 } }
}

extension StorageError {
  /// The same error of a live property that keeps its last value.
  fileprivate var keepingLastValue: StorageError {
    let cause =
      code == .typeMismatch
      ? ". Either somebody stored another type, or the type in this program has changed" : ""
    return StorageError(
      code, "\(message)\(cause). The property keeps its last value until there is a new one",
      key: key, path: path, number: number)
  }
}

extension LiveValue: RedactedDescription {
  /// The key, and no value.
  public var description: String { "LiveValue(\"\(key)\")" }
}
