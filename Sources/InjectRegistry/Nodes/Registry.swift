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
  private var slots: [SlotKey: AnySlot] = [:]
  private var closure: InjectErrorClosure?
  private var gates: [EntryKey: Slot<Bool>] = [:]
  /// Counts changes of registrations and of kept instances.
  private let changes = Atomic<Int>(0)
  /// How many changes are in progress.
  private let changesBegun = Atomic<Int>(0)

  /// Identifies an instance of a registration: the shared one, or a session's.
  private struct SlotKey: Hashable {
    let registration: ObjectIdentifier
    let scope: InjectScope
  }

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
      let built = slots.first { $0.key.registration == ObjectIdentifier(registration) }
      return (registration, registration.anyValue ?? built?.value.anyInstance)
    }
  }

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
        dropped = dropSlots { $0 == ObjectIdentifier(same[index]) }
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

  /// Drops the instances of the scopes that `isChosen` picks; they are built anew when needed.
  func dropInstances(of isChosen: (InjectScope) -> Bool) -> [Any] {
    let dropped = lock.withLock {
      let chosen = slots.filter { isChosen($0.key.scope) }
      for key in chosen.keys { slots[key] = nil }
      changes.add(1, ordering: .releasing)
      return chosen
    }
    // Only after the change was counted: code that builds an instance now sees the change, and
    // keeps no sample.
    return [dropped, all.map { $0.forgetSample() }]
  }

  private func dropSlots(where isChosen: (ObjectIdentifier) -> Bool) -> [AnyObject] {
    let chosen = slots.filter { isChosen($0.key.registration) }
    for key in chosen.keys { slots[key] = nil }
    return Array(chosen.values)
  }

  /// The place of a registration's instance in this registry.
  ///
  /// A registration that was just replaced gets a place that is not kept. A layer keeps it, since
  /// it can't tell such a registration from one further out.
  func slot<Dependency>(
    for registration: Registration<Dependency>, _ scope: InjectScope
  ) -> Slot<Dependency> {
    let key = SlotKey(registration: ObjectIdentifier(registration), scope: scope)
    return lock.withLock {
      if let slot = slots[key] { return unsafe unsafeDowncast(slot, to: Slot<Dependency>.self) }
      // The slot holds the registration, so that no other one can get its identity meanwhile.
      let slot = Slot(registration, scope)
      if isLayer || entries[registration.key]?.contains(where: { $0 === registration }) == true {
        slots[key] = slot
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
