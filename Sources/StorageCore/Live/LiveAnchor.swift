public import CryptoCore

/// What a live property holds: the way to its value, which is gone at the first use.
///
/// Making a property looks at nothing; all copies of a wrapper share the anchor.
@usableFromInline
final class LiveAnchor<Value: Sendable & Equatable, StorageType: Storage>: Sendable {
  private let made: StorageType
  @usableFromInline let key: StoreKey
  let coder: ValueCoder<Value>
  let absent: Value
  /// Whether it is a property of the standard storage, whichever that is: in a test, the test's own.
  let followsTests: Bool
  @usableFromInline let resolved = SetOnce<LiveValue<Value>>()

  init(
    _ storage: StorageType, _ key: StoreKey, _ coder: ValueCoder<Value>, absent: Value,
    followsTests: Bool = false
  ) {
    made = storage
    self.key = key
    self.coder = coder
    self.absent = absent
    self.followsTests = followsTests
  }

  /// The same property, of the standard storage that is in use.
  var followingTests: LiveAnchor {
    LiveAnchor(made, key, coder, absent: absent, followsTests: true)
  }

  /// The storage in use: another than it was made with where it is used in a test with stores of its own.
  var storage: StorageType {
    guard followsTests, TestStores.inUse != nil,
      let family = StorageType.self as? any StandardStorage.Type
    else { return made }
    return family.standard as? StorageType ?? made
  }

  /// The value, an error reported and nil.
  @inlinable @inline(__always)
  func get() -> Value {
    // It keeps the shared value, to which the next lines count no reference.
    defer { withExtendedLifetime(self) {} }
    if let value = unsafe resolved.uncounted?._withUnsafeGuaranteedRef({ live in
      live.isClean ? live.observed() : nil
    }) {
      return value
    }
    return getSlowly()
  }

  @usableFromInline
  func getSlowly() -> Value { live.read(orReport: storage.report).value }

  /// The shared value.
  var live: LiveValue<Value> {
    // One of another storage is the hub's alone, and lasts as long as somebody looks at it.
    guard storage === made else { return live(coder, absent: absent) }
    return resolved.load() ?? resolved.storeIfNil(live(coder, absent: absent))
  }

  /// The shared value of this key and of a type.
  func live<Other>(_ coder: ValueCoder<Other>, absent: Other) -> LiveValue<Other> {
    let hub = LiveHub.hub(of: storage.store)
    let storage = storage
    return hub.value(storage.store.name(key)) { node in
      LiveValue(hub, node, coder, absent: absent, report: { storage.report($0) })
    }
  }

  /// What the property's setter does.
  func set(_ value: Value) {
    do throws(StorageError) {
      try live.write(value, to: storage.store, isDeliberate: false)
    } catch {
      storage.report(error)
    }
  }

  func save(_ value: Value) throws(StorageError) {
    try live.write(value, to: storage.store, isDeliberate: true)
  }

  /// Stores a value if, and only if, the key has none.
  func register(_ value: Value) {
    guard value != absent else { return }
    do throws(StorageError) {
      let name = storage.store.name(key)
      guard try storage.store.fetch(name) == nil else { return }
      try storage.store.write(value, name, coder, if: .absent)
    } catch {
      storage.report(error.about(key))
    }
  }

  func states<Stored>(_ coder: ValueCoder<Stored>) -> PropertyStates<Stored> {
    PropertyStates(store: storage.store, name: storage.store.name(key), coder: coder)
  }
}
