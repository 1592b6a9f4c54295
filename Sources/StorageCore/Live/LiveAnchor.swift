public import CryptoCore

/// What a live property consists of.
@usableFromInline
final class LiveParts<Property: Sendable & Equatable, StorageType: Sendable>: Sendable {
  /// The two forms of a live property.
  enum Form: Sendable {
    /// `Property` is optional, and nil means that there is no value.
    case optional(LiveAnchor<Property>)
    /// The second element is the default, which the property has when there is no value.
    case defaulted(LiveAnchor<Property?>, Property)
  }

  // Not a `Form`: taking an object out of such an enumeration retains it.

  /// The anchor of an optional property; nil for the other form.
  @usableFromInline let optional: LiveAnchor<Property>?
  /// The anchor of a property with a default; nil for the other form.
  @usableFromInline let defaulted: LiveAnchor<Property?>?
  /// The default of a property that has one; nil for the other form.
  @usableFromInline let fallback: Property?
  /// The place that the property was created with: a storage, or a router of typed keys.
  let given: StorageType

  init(
    _ given: StorageType, optional: LiveAnchor<Property>? = nil,
    defaulted: LiveAnchor<Property?>? = nil, fallback: Property? = nil
  ) {
    self.given = given
    (self.optional, self.defaulted, self.fallback) = (optional, defaulted, fallback)
  }

  var form: Form {
    if let optional { return .optional(optional) }
    guard let defaulted, let fallback else { preconditionFailure("a property is of one form") }
    return .defaulted(defaulted, fallback)
  }

  /// The value in memory, which follows the storage.
  @inlinable @inline(__always)
  var value: Property {
    // Optional chaining only: with `if let` the compiler would retain the anchor.
    if let value = optional?.get() { return value }
    if let value = defaulted?.get() { return value }
    guard let fallback else { preconditionFailure("a property is of one form") }
    return fallback
  }
}

/// The object behind a live property; it looks up the shared value at the first use.
///
/// Creating a property accesses nothing. All copies of a wrapper share the anchor.
@usableFromInline
final class LiveAnchor<Value: Sendable & Equatable>: Sendable {
  let source: any LiveSource<Value>
  let absent: Value
  /// What the shared value belongs to, if the property checks its values; nil if all properties of
  /// the key and type share it.
  let owner: LiveOwner?
  @usableFromInline let resolved = SetOnce<LiveValue<Value>>()

  init(
    _ source: any LiveSource<Value>, absent: Value, _ check: (@Sendable (Value) -> Bool)? = nil
  ) {
    self.absent = absent
    if let check {
      self.source = source.checked(by: check)
      owner = LiveOwner()
    } else {
      self.source = source
      owner = nil
    }
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
  func getSlowly() -> Value { live.read(orReport: { [source] in source.report($0) }) }

  /// The value while a test has its own stores, which this property may have to use.
  func getInTest() -> Value { source.isOfGivenPlace ? get() : getSlowly() }

  /// The shared value.
  var live: LiveValue<Value> {
    // A test's value is not cached here, since the caller may be another test; the test keeps it.
    guard source.isOfGivenPlace else { return kept(source.live(absent: absent, owner)) }
    if let known = resolved.load() { return known }
    let live = source.live(absent: absent, owner)
    return live.hub.store?.keys.owner == nil ? resolved.storeIfNil(live) : kept(live)
  }

  /// A value of a test's stores, which the test keeps.
  private func kept(_ live: LiveValue<Value>) -> LiveValue<Value> {
    TestStores.inUse?.keep(live)
    return live
  }

  /// Implements the property's setter.
  func set(_ value: Value) {
    do throws(StorageError) {
      try live.write(value, to: source, isDeliberate: false)
    } catch {
      source.report(error)
    }
  }

  func save(_ value: Value) throws(StorageError) {
    try live.write(value, to: source, isDeliberate: true)
  }

  /// Stores a value only if the key has none.
  func register(_ value: Value) {
    if value != absent { source.register(value) }
  }
}

/// The identity of a property that checks its values: it shares its value with its copies alone.
final class LiveOwner: Hashable, Sendable {
  static func == (one: LiveOwner, other: LiveOwner) -> Bool { one === other }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
