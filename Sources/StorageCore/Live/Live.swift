public import CryptoCore

/// A property that is kept in a storage and read from memory, which follows the storage.
///
///     @Live(storage, "theme") var theme = "dark"
///     @Live(storage, "token") var token: String?
///
/// An optional property is nil when there is no value, and assigning nil removes it. Any other is its
/// default when there is no value; the default is never written. All live properties of one key and type
/// share one ``LiveValue``, which sees every change, whoever made it: this property, another wrapper,
/// another process, another program.
///
/// Reading costs no decryption and no system call, and is observed by `withObservationTracking` and
/// `Observations`. It sees whatever any thread of this process has written before. Assigning writes to
/// the storage first; what it refuses changes nothing and is reported to its error closure. Reading a
/// value that can't be read gives nil or the default, and reports that; `$property.state` tells.
/// Assigning is then refused, as with ``Store``. The type that was stored first stays: a property of
/// another type is the error `typeMismatch` and changes nothing, until `$property.remove()`.
///
/// Works in structures, classes, actors and local variables, from any thread. The value is in memory in
/// the clear as long as there is such a property: use ``Store`` for what should not be.
@propertyWrapper
public struct Live<Property: Sendable & Equatable, StorageType: Storage>: Sendable {
  /// Which of the two forms it is.
  enum Form: Sendable {
    /// `Property` is optional, and nil means that there is no value.
    case optional(LiveAnchor<Property, StorageType>)
    /// The second is what the property is when there is no value.
    case defaulted(LiveAnchor<Property?, StorageType>, Property)
  }

  // Apart and not as a `Form`: whoever takes an object out of such an enumeration counts a reference to
  // it, and threads that read one property would take turns with the counter.

  /// What an optional property reads from; nil for the other form.
  @usableFromInline let optional: LiveAnchor<Property, StorageType>?
  /// What a property with a default reads from; nil for the other form.
  @usableFromInline let defaulted: LiveAnchor<Property?, StorageType>?
  /// What a property with a default is when there is no value; nil for the other form.
  @usableFromInline let fallback: Property?

  private init(_ form: Form) {
    switch form {
    case .optional(let anchor): (optional, defaulted, fallback) = (anchor, nil, nil)
    case .defaulted(let anchor, let value): (optional, defaulted, fallback) = (nil, anchor, value)
    }
  }

  var form: Form {
    if let optional { return .optional(optional) }
    guard let defaulted, let fallback else { preconditionFailure("a property is of one form") }
    return .defaulted(defaulted, fallback)
  }

  /// The same, of the standard storage that is in use.
  private var followingTests: Live {
    switch form {
    case .optional(let anchor): Live(.optional(anchor.followingTests))
    case .defaulted(let anchor, let value): Live(.defaulted(anchor.followingTests, value))
    }
  }

  /// The value in memory, which is that of the storage.
  public var wrappedValue: Property {
    @inlinable get {
      // Costs one relaxed load outside of tests.
      if TestStores.areInUse { return valueInTests }
      // By `?.` alone: the compiler counts a reference to what `if let` names.
      if let value = optional?.get() { return value }
      if let value = defaulted?.get() { return value }
      guard let fallback else { return valueInTests }
      return fallback
    }
    nonmutating set {
      switch form {
      case .optional(let anchor): anchor.set(newValue)
      case .defaulted(let anchor, _): anchor.set(newValue)
      }
    }
  }

  /// The same where some test has stores of its own, which may be those that are meant.
  @usableFromInline var valueInTests: Property {
    switch form {
    case .optional(let anchor): anchor.followsTests ? anchor.getSlowly() : anchor.get()
    case .defaulted(let anchor, let value):
      (anchor.followsTests ? anchor.getSlowly() : anchor.get()) ?? value
    }
  }

  /// The wrapper itself: `$property.save(_:)` and the like.
  public var projectedValue: Live { self }
}

// MARK: - Properties with a default

extension Live where Property: Codable {
  /// A property with a default.
  ///
  /// Nothing is looked at before the first use.
  ///
  /// - Parameters:
  ///   - wrappedValue: the default.
  ///   - storage: where the property is kept.
  ///   - key: its key.
  public init(wrappedValue: Property, _ storage: StorageType, _ key: StoreKey) {
    let coder: ValueCoder<Property> = storage.store.liveCoder()
    self.init(.defaulted(LiveAnchor(storage, key, coder.optional, absent: nil), wrappedValue))
  }

  /// A property with a default, whose key is a case of an enumeration over `String`.
  public init<Key: RawRepresentable<String>>(
    wrappedValue: Property, _ storage: StorageType, _ key: Key
  ) {
    self.init(wrappedValue: wrappedValue, storage, key.rawValue)
  }

  /// Stores the default if the key has no value, as other packages do.
  package func storeDefaultIfAbsent() {
    if case .defaulted(let anchor, let value) = form { anchor.register(value) }
  }
}

extension Live where Property: Codable, StorageType: StandardStorage {
  /// A property of the standard storage with a default.
  public init(wrappedValue: Property, _ key: StoreKey) {
    self = Live(wrappedValue: wrappedValue, .standard, key).followingTests
  }

  /// A property of the standard storage with a default, whose key is a case of an enumeration over
  /// `String`.
  public init<Key: RawRepresentable<String>>(wrappedValue: Property, _ key: Key) {
    self = Live(wrappedValue: wrappedValue, .standard, key.rawValue).followingTests
  }
}

// MARK: - Optional properties

extension Live where Property: Codable & ExpressibleByNilLiteral {
  /// A property without an initial value.
  ///
  /// Nothing is looked at before the first use.
  ///
  /// - Parameters:
  ///   - storage: where it is kept.
  ///   - key: its key.
  public init(_ storage: StorageType, _ key: StoreKey) {
    if let coder: ValueCoder<Property> = storage.store.optionalCoder() {
      self.init(.optional(LiveAnchor(storage, key, coder, absent: nil)))
    } else {
      // A type of the program's own that has a nil.
      let coder: ValueCoder<Property> = storage.store.liveCoder()
      self.init(.defaulted(LiveAnchor(storage, key, coder.optional, absent: nil), nil))
    }
  }

  /// A property with an initial value, stored if the key has none.
  ///
  /// - Parameters:
  ///   - wrappedValue: the initial value; nil is none.
  ///   - storage: where it is kept.
  ///   - key: its key.
  public init(wrappedValue: Property, _ storage: StorageType, _ key: StoreKey) {
    self.init(storage, key)
    if case .optional(let anchor) = form { anchor.register(wrappedValue) }
  }

  /// A property whose key is a case of an enumeration over `String`.
  public init<Key: RawRepresentable<String>>(_ storage: StorageType, _ key: Key) {
    self.init(storage, key.rawValue)
  }

  /// A property with an initial value, whose key is a case of an enumeration over `String`.
  public init<Key: RawRepresentable<String>>(
    wrappedValue: Property, _ storage: StorageType, _ key: Key
  ) {
    self.init(wrappedValue: wrappedValue, storage, key.rawValue)
  }
}

extension Live
where Property: Codable & ExpressibleByNilLiteral, StorageType: StandardStorage {
  /// A property of the standard storage.
  public init(_ key: StoreKey) {
    self = Live(.standard, key).followingTests
  }

  /// A property of the standard storage with an initial value, stored if the key has none.
  public init(wrappedValue: Property, _ key: StoreKey) {
    self = Live(wrappedValue: wrappedValue, .standard, key).followingTests
  }

  /// A property of the standard storage whose key is a case of an enumeration over `String`.
  public init<Key: RawRepresentable<String>>(_ key: Key) {
    self = Live(.standard, key.rawValue).followingTests
  }

  /// A property of the standard storage with an initial value, whose key is a case of an
  /// enumeration over `String`.
  public init<Key: RawRepresentable<String>>(wrappedValue: Property, _ key: Key) {
    self = Live(wrappedValue: wrappedValue, .standard, key.rawValue).followingTests
  }
}

extension Live: RedactedDescription {
  /// The key, and neither value nor default.
  public var description: String { "Live(\"\(key)\")" }
}
