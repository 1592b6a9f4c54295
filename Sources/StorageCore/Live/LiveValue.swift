public import CryptoCore
public import Observation
public import Synchronization

/// A value that is kept decoded in memory, and in step with its storage.
///
/// All live properties of one place, key and type share one, as long as there are any: it begins to
/// follow the storage with the first of them and stops when the last one is released. It is
/// `Observable`: `withObservationTracking` and `Observations` are told of each change, whoever made it,
/// and not of one to an equal value. They are for state: of changes in quick succession they may tell the
/// last alone. The closure `onChange` runs on the thread that changed the value, or on one of the
/// package's own, while no lock is held. One thread at a time tells the observers of a value, so an
/// `onChange` that does not return keeps the value's other observers from being told; readers,
/// writers and ``Live/states`` go on. Hand over to a task or a queue there, and return.
///
/// `Value` is an optional type, and nil means that there is no value. Any thread may use it. The value
/// stays in memory in the clear as long as the object lives.
public final class LiveValue<Value: Sendable & Equatable>: Observable, Sendable {
  @usableFromInline let hub: LiveHub
  @usableFromInline let node: LiveNode
  let coder: ValueCoder<Value>
  /// What stands for no value.
  let absent: Value
  private let report: @Sendable (StorageError) -> Void

  @usableFromInline let gate = ReadGate.shared
  @usableFromInline let current: LivePointer<Value>
  @usableFromInline let registrar = ObservationRegistrar()
  /// Who may have to be told again.
  let late = Lock(LateObservers<Value>())
  /// Snapshots that somebody may borrow yet.
  let retired = Lock<[LiveSnapshot<Value>]>([])

  init(
    _ hub: LiveHub, _ node: LiveNode, _ coder: ValueCoder<Value>, absent: Value,
    report: @escaping @Sendable (StorageError) -> Void
  ) {
    (self.hub, self.node) = (hub, node)
    self.coder = coder
    self.absent = absent
    self.report = report
    current = LivePointer(LiveSnapshot(absent, isAbsent: false, generation: 0))
  }

  deinit { hub.remove(node) }

  /// The key.
  public var key: StoreKey { node.name.text }

  /// The value, or nil when there is none or it could not be read, of which the error closure is told.
  ///
  /// Costs no decryption and no system call once it was read, as long as nothing changes. Sees what any
  /// thread of this process has written before. After a read that failed, each asks the storage again.
  public var value: Value {
    @inlinable get { isClean ? observed() : read().value }
  }

  /// What there is: unlike ``value``, it tells absent from failed.
  public var state: PropertyState<Value> {
    let snapshot = readUpToDate()
    if let error = snapshot.error { return .failed(error) }
    return snapshot.isAbsent ? .absent : .value(snapshot.value)
  }

  /// The value, or nil when there is none.
  ///
  /// - Throws: `StorageError` when it could not be read.
  public func load() throws(StorageError) -> Value {
    let snapshot = readUpToDate()
    if let error = snapshot.error { throw error }
    return snapshot.value
  }

  // MARK: - Reading

  /// Whether memory has the value as it is now.
  @inlinable @inline(__always)
  var isClean: Bool {
    !node.attention.load(ordering: .acquiring) && !hub.isDoubtful.load(ordering: .acquiring)
  }

  /// The value in memory.
  @inlinable @inline(__always)
  func observed() -> Value {
    let lane = unsafe gate.enter()
    // All of the snapshot's is used before the lane is left; the value and the path that others keep have
    // references of their own. Neither runs code of the program's.
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

  /// The value after all notices; an error is reported to `receiver`, or to the storage's closure.
  @usableFromInline
  func read(orReport receiver: ((StorageError) -> Void)? = nil) -> (value: Value, isFailed: Bool) {
    let snapshot = readUpToDate()
    if let error = snapshot.error {
      if let receiver { receiver(error) } else { report(error) }
    }
    return (snapshot.value, snapshot.error != nil)
  }

  /// What there is after all notices; what failed is tried again.
  func upToDate() -> LiveSnapshot<Value> {
    bringUpToDate()
    return snapshot
  }

  /// The same for somebody who reads it, who is to be told when it changes.
  private func readUpToDate() -> LiveSnapshot<Value> {
    bringUpToDate()
    return lend { noteAccess($0) }
  }

  private func bringUpToDate() {
    guard !isClean else { return }
    if snapshot.error != nil { node.note(.look) }
    settle()
  }

  /// What is in memory.
  var snapshot: LiveSnapshot<Value> { lend { _ in } }

  /// What is in memory, of which `body` is given a look before it can be replaced unnoticed.
  private func lend(_ body: (LiveSnapshot<Value>) -> Void) -> LiveSnapshot<Value> {
    let lane = unsafe gate.enter()
    let snapshot = unsafe current.uncounted.takeUnretainedValue()
    body(snapshot)
    unsafe gate.leave(lane)
    return snapshot
  }
}

extension LiveValue: RedactedDescription {
  /// The key, and no value.
  public var description: String { "LiveValue(\"\(key)\")" }
}
