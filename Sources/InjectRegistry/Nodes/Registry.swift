internal import Synchronization

/// The registrations of a storage or a layer, with the instances that live as long as the
/// registrations.
final class Registry: @unchecked Sendable {
  /// Whether it also keeps instances of registrations further out.
  private let isLayer: Bool
  // `lock` guards everything that changes.
  private let lock = InjectLock()
  private var entries: [EntryKey: [AnyRegistration]] = [:]
  private var types: Set<ObjectIdentifier> = []
  /// The places of instances: one for each scope, a session's as well, and each registration.
  private var slots: [InjectScope: [ObjectIdentifier: AnySlot]] = [:]
  private var closure: InjectErrorClosure?
  private var gates: [EntryKey: Slot<Bool>] = [:]
  /// Counts changes of registrations and of kept instances.
  private let changes = Atomic<Int>(0)
  /// How many changes are in progress.
  private let changesBegun = Atomic<Int>(0)

  init(isLayer: Bool) { self.isLayer = isLayer }

  /// Takes errors.
  var errorClosure: InjectErrorClosure? {
    get { lock.withLock { closure } }
    set {
      let old = lock.withLock {
        defer { closure = newValue }
        return closure
      }
      withExtendedLifetime(old) {}
    }
  }

  /// Grows with every change; equal numbers mean that nothing has changed.
  var version: Int { changes.load(ordering: .acquiring) }

  /// Announces a change, which lasts until ``endChange()``.
  func beginChange() { changesBegun.add(1, ordering: .acquiringAndReleasing) }

  /// Ends an announced change.
  func endChange() { changesBegun.subtract(1, ordering: .acquiringAndReleasing) }

  /// Whether nothing has changed since a version, and no change is in progress.
  ///
  /// Ask under the lock of the node that will keep the result: a change first announces itself, and
  /// then makes each node forget.
  func isStill(at version: Int) -> Bool {
    changesBegun.load(ordering: .acquiring) == 0 && self.version == version
  }

  /// The registrations for a key, in the order of registering.
  func registrations(for key: EntryKey) -> [AnyRegistration] {
    lock.withLock { entries[key] ?? [] }
  }

  /// All registrations.
  var all: [AnyRegistration] {
    lock.withLock { entries.values.flatMap { $0 } }
  }

  /// All registrations, each with its existing instance, if any.
  var allWithInstances: [(registration: AnyRegistration, instance: Any?)] {
    let slots = lock.withLock { self.slots }
    return all.map { registration in
      let built = slots.values.lazy.compactMap { $0[ObjectIdentifier(registration)] }.first
      return (registration, registration.anyValue ?? built?.anyInstance)
    }
  }

  /// How many places for instances there are, for tests.
  var placeCount: Int { lock.withLock { slots.values.reduce(0) { $0 + $1.count } } }

  /// Whether anything is registered here for one of the types.
  func registersAny(of dependencies: Set<ObjectIdentifier>) -> Bool {
    lock.withLock { !types.isDisjoint(with: dependencies) }
  }

  // The next three methods return the dropped objects: releasing these may run a program's own
  // code, for which neither the lock nor the change may wait.

  /// Adds a registration, or replaces the one from the same place in source.
  func add(_ registration: AnyRegistration) -> [Any] {
    var dropped: [AnyObject] = []
    lock.withLock {
      var same = entries[registration.key] ?? []
      if let index = same.firstIndex(where: { $0.location == registration.location }) {
        dropped = dropSlots(of: same[index])
        dropped.append(same[index])
        same[index] = registration
      } else {
        same.append(registration)
      }
      entries[registration.key] = same
      types.insert(registration.key.type)
      changes.add(1, ordering: .releasing)
    }
    return dropped
  }

  /// Removes all registrations and instances.
  func removeAll() -> [Any] {
    lock.withLock {
      defer {
        entries = [:]
        types = []
        slots = [:]
        changes.add(1, ordering: .releasing)
      }
      return [entries, slots]
    }
  }

  /// Drops instances; they are built anew when needed.
  ///
  /// - Parameter scope: the scope whose instances are dropped, or nil for all scopes.
  /// - Returns: the dropped objects.
  func dropInstances(of scope: InjectScope? = nil) -> [Any] {
    let dropped: Any = lock.withLock {
      changes.add(1, ordering: .releasing)
      if let scope { return slots.removeValue(forKey: scope) as Any }
      defer { slots = [:] }
      return slots
    }
    // Only after the change was counted: code that builds an instance now sees the change, and
    // keeps no sample.
    return [dropped, all.map { $0.forgetSample() }]
  }

  private func dropSlots(of registration: AnyRegistration) -> [AnyObject] {
    slots.keys.compactMap { slots[$0]?.removeValue(forKey: ObjectIdentifier(registration)) }
  }

  /// The place of a registration's instance in this registry.
  ///
  /// A registration that was just replaced gets a place that is not kept. A layer keeps it, since
  /// it can't tell such a registration from one further out.
  func slot<Dependency>(
    for registration: Registration<Dependency>, _ scope: InjectScope
  ) -> Slot<Dependency> {
    let id = ObjectIdentifier(registration)
    return lock.withLock {
      if let slot = slots[scope]?[id] {
        return unsafe unsafeDowncast(slot, to: Slot<Dependency>.self)
      }
      // The slot holds the registration, so that no other one can get its identity meanwhile.
      let slot = Slot(registration, scope)
      if isLayer || entries[registration.key]?.contains(where: { $0 === registration }) == true {
        slots[scope, default: [:]][id] = slot
      }
      return slot
    }
  }

  /// Holds other readers that miss the same dependency while the error closure runs.
  func lateGate(for key: EntryKey, _ type: any Any.Type) -> Slot<Bool> {
    lock.withLock {
      if let gate = gates[key] { return gate }
      let place = InjectLocation(fileID: #fileID, line: #line, column: #column)
      let gate = Slot(
        Registration<Bool>(.value(false), group: nil, scope: .instance, place, shownAs: type),
        .instance)
      gates[key] = gate
      return gate
    }
  }
}
