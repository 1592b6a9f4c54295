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
/// succession they may report only the last. The closure `onChange` runs on the thread that changed
/// the value or on a thread of the package, while no lock is held. One thread at a time notifies
/// the observers of a value. An `onChange` that does not return therefore blocks the notices to the
/// value's other observers; readers, writers and ``Live/states`` continue. In `onChange`, hand over
/// to a task or a queue, and return.
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
  @usableFromInline let gate = ReadGate.shared
  @usableFromInline let current: LivePointer<Value>
  @usableFromInline let registrar = ObservationRegistrar()
  /// The failure for which a getter last returned the default, until the program has the value.
  let defaults = FailedReads()
  /// Observers that may have to be notified again.
  let late = Lock(LateObservers<Value>())
  /// Replaced snapshots that a reader may still borrow.
  let retired = Lock<[LiveSnapshot<Value>]>([])

  init(
    _ hub: LiveHub, _ node: LiveNode, _ source: any LiveSource<Value>, absent: Value
  ) {
    (self.hub, self.node) = (hub, node)
    self.source = source
    self.absent = absent
    current = LivePointer(LiveSnapshot(absent, isAbsent: false, generation: 0))
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
    let lane = unsafe gate.enter()
    // Everything taken from the snapshot is used before the lane is left. Copies of the value and
    // of the path that others keep hold their own references. No code of the program runs
    // meanwhile.
    let value = unsafe current.uncounted._withUnsafeGuaranteedRef { snapshot in
      noteAccess(snapshot)
      return unsafe snapshot.memory.pointee
    }
    unsafe gate.leave(lane)
    return value
  }

  @inlinable @inline(__always)
  func noteAccess(_ snapshot: LiveSnapshot<Value>) {
    unsafe snapshot.uncountedPath._withUnsafeGuaranteedRef { registrar.access(self, keyPath: $0) }
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
    if snapshot.takesReport() {
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

  /// The snapshot after all notices; a failed read is tried again.
  func upToDate() -> LiveSnapshot<Value> {
    bringUpToDate()
    return snapshot
  }

  /// The snapshot after all notices, for a reader that is notified when the value changes.
  private func readUpToDate() -> LiveSnapshot<Value> {
    bringUpToDate()
    return lend { noteAccess($0) }
  }

  private func bringUpToDate() {
    guard !isClean else { return }
    if snapshot.error != nil { node.note(.look) }
    settle()
  }

  /// The snapshot in memory.
  var snapshot: LiveSnapshot<Value> { lend { _ in } }

  /// The snapshot in memory; `body` runs on it before a change can pass unnoticed.
  private func lend(_ body: (LiveSnapshot<Value>) -> Void) -> LiveSnapshot<Value> {
    let lane = unsafe gate.enter()
    let snapshot = unsafe current.uncounted.takeUnretainedValue()
    body(snapshot)
    unsafe gate.leave(lane)
    return snapshot
  }
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
