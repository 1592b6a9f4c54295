public import CryptoCore

/// The object behind a live property; it looks up the shared value at the first use.
///
/// Creating a property accesses nothing. All copies of a wrapper share the anchor.
@usableFromInline
final class LiveAnchor<Value: Sendable & Equatable, StorageType: Storage>: Sendable {
  private let made: StorageType
  @usableFromInline let key: StoreKey
  let coder: ValueCoder<Value>
  let absent: Value
  /// Whether this is a property of the standard storage.
  ///
  /// In a test, such a property uses the test's own standard storage.
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

  /// The storage in use.
  ///
  /// It differs from `made` when a test that has its own stores uses the property.
  var storage: StorageType {
    guard followsTests, TestStores.inUse != nil,
      let family = StorageType.self as? any StandardStorage.Type
    else { return made }
    return family.standard as? StorageType ?? made
  }

  /// The value; on an error, reports the error and returns `absent`.
  @inlinable @inline(__always)
  func get() -> Value {
    // Keeps the anchor, and so the shared value, alive: the lines below retain nothing.
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
    // The value of another storage is not cached here; it lives as long as someone holds it. Nor is
    // a test's, since the caller may be another test.
    guard storage === made, made.store.keys.owner == nil else { return live(coder, absent: absent) }
    return resolved.load() ?? resolved.storeIfNil(live(coder, absent: absent))
  }

  /// The shared value of this key and of another type.
  func live<Other>(_ coder: ValueCoder<Other>, absent: Other) -> LiveValue<Other> {
    let hub = LiveHub.hub(of: storage.store)
    let storage = storage
    return hub.value(storage.store.name(ofProperty: key)) { node in
      LiveValue(hub, node, coder, absent: absent, report: { storage.report($0) })
    }
  }

  /// Implements the property's setter.
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

  /// Stores a value only if the key has none.
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
