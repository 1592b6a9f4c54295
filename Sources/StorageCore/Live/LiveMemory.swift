public import Observation

/// What a live value has in memory.
@usableFromInline
struct LiveMemory<Value: Sendable & Equatable>: Sendable {
  /// The value; nil when there is none, and when none could be read yet.
  @usableFromInline var value: Value
  /// The number of different values before this one; 0 before the first read.
  @usableFromInline var generation = 0
  /// The number of times that this was replaced.
  var version = 0
  /// Whether the store held no value.
  var isAbsent = false
  /// Why the value could not be read, or nil.
  ///
  /// ``value`` is then the last one that could be read, if ``isOfStore`` is true.
  var error: StorageError?
  /// Whether the value was read from the store, now or before the error.
  var isOfStore = false
  /// Whether the error was reported.
  var isReported = false

  init(_ absent: Value) { value = absent }

  /// What to have after a finding; nil when that is here already.
  ///
  /// An equal value may still be a different one, so it replaces the old value. It stays in the
  /// same generation, and observers are not notified. `isNewRecord` says whether another record was
  /// stored than the one that was read last.
  func after(
    _ finding: PropertyState<Value>, absent: Value, isNewRecord: Bool
  ) -> LiveMemory? {
    var new = LiveMemory(absent)
    (new.generation, new.version) = (generation + 1, version + 1)
    let isRead = generation > 0
    switch finding {
    case .value(let found):
      (new.value, new.isOfStore) = (found, true)
      if isRead, error == nil, !isAbsent, value == found { new.generation = generation }
    case .absent:
      if isRead, isAbsent { return nil }
      new.isAbsent = true
    case .failed(let failure):
      // The same error of another record is reported again.
      if isRead, error == failure, !isNewRecord { return nil }
      // The last value stays until there is another one.
      (new.error, new.isOfStore) = (failure, isOfStore)
      if isOfStore { new.value = value }
    }
    return new
  }
}

/// Which observers of a live value are to be told, and whether a thread is telling them.
///
/// Values count as even and odd in turn, and observers register under the one of the value that
/// they read. So the observers of the last value are told from those of the value before it.
struct LiveNotices: Sendable {
  /// Observers of even values (1), of odd values (2), or both.
  typealias Observers = UInt8
  static var all: Observers { 3 }

  static func observers(of generation: Int) -> Observers { 1 << UInt8(generation & 1) }

  private var isTelling = false
  private var turns = 0
  private var due: Observers = 0
  /// The changes since the running pause began, or nil when none is running.
  private var changes: Int?
  /// The changes of the pause before it.
  private var earlier = 0

  /// Adds observers to tell.
  ///
  /// - Returns: true when no thread is telling, so that the caller must.
  mutating func begin(_ observers: Observers) -> Bool {
    due |= observers
    if isTelling { return false }
    (isTelling, turns) = (true, 0)
    return true
  }

  /// The observers to tell next; nil when all were told.
  ///
  /// Other threads may change the value faster than one thread can tell. It then leaves the rest to
  /// the end of the pause.
  mutating func next() -> Observers? {
    turns += 1
    defer { due = 0 }
    isTelling = due != 0 && turns <= 16
    return isTelling ? due : nil
  }

  /// Notes a change of the value.
  ///
  /// - Returns: whether a pause begins.
  mutating func noteChange() -> Bool {
    defer { changes = (changes ?? 0) + 1 }
    return changes == nil
  }

  /// Ends a pause.
  ///
  /// - Returns: whether the value changed more than once of late, and whether another pause begins.
  mutating func endPause() -> (isMany: Bool, goesOn: Bool) {
    let count = changes ?? 0
    defer { (earlier, changes) = (count, count == 0 ? nil : 0) }
    return (count + earlier > 1, count > 0)
  }
}

/// The observers of a live value.
///
/// Not copyable, so that a read copies neither a key path nor the registrar.
@safe @usableFromInline
// Unchecked, because key paths are not Sendable. No key path is ever changed.
struct LiveObservers<Value: Sendable & Equatable>: ~Copyable, @unchecked Sendable {
  @usableFromInline let registrar = ObservationRegistrar()
  // Creating a path takes longer than a read.
  @usableFromInline let even: KeyPath<LiveValue<Value>, Value> = \.value
  @usableFromInline let odd: KeyPath<LiveValue<Value>, Value> = \.oddValue

  init() {}

  /// Registers the caller as an observer of a generation.
  @inlinable @inline(__always)
  borrowing func noteAccess(to live: LiveValue<Value>, _ generation: Int) {
    if generation & 1 == 0 {
      registrar.access(live, keyPath: even)
    } else {
      registrar.access(live, keyPath: odd)
    }
  }

  borrowing func tell(_ observers: LiveNotices.Observers, of live: LiveValue<Value>) {
    for (number, path) in [even, odd].enumerated()
    where observers & LiveNotices.observers(of: number) != 0 {
      registrar.willSet(live, keyPath: path)
      registrar.didSet(live, keyPath: path)
    }
  }
}

extension LiveValue {
  /// A second name of ``value``, for a second key path.
  fileprivate var oddValue: Value { value }
}
