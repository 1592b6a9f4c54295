public import CryptoCore

/// A stored property that is read from memory and follows its storage.
///
///     @Live(storage, "theme") var theme = "dark"
///     @Live(storage, "token") var token: String?
///
/// An optional property is nil when there is no value; assigning nil removes the value. Any other
/// property has its default when there is no value; the default is never stored. All live
/// properties of one key and type share one ``LiveValue``. It sees every change, whether made by
/// this property, another wrapper, another process or another program.
///
/// Reading costs no decryption and no system call. It sees everything that any thread of this
/// process has written before. `withObservationTracking` and `Observations` observe it. Assigning
/// writes to the storage first. If the storage refuses the write, nothing changes, and the
/// storage's error closure gets the error.
///
/// If a new value can't be read, the property keeps the last one, and the error is reported once
/// for each such value. Without an earlier value, or after a removal, the property is nil or its
/// default, and the error is reported at each read; `$property.state` tells the difference.
/// Assigning is then refused, as with ``Store``. The type that was stored first stays: using the
/// key with another type is the error `typeMismatch` and changes nothing, until
/// `$property.remove()`. Stored text that is exactly a value of the type counts as that type.
///
/// A property can check its values. One that the check refuses is never seen: an assignment changes
/// nothing, and a stored one counts as a value that can't be read. The error is `invalid`:
///
///     @Live(storage, "port", validate: { (1...65_535).contains($0) }) var port = 8080
///
/// The value's type is `Equatable`, since observers are told of different values only: add it to the
/// declaration of a structure or an enumeration. The default is not checked. A property with a check shares its ``LiveValue`` only with its own
/// copies.
///
/// Works in structures, classes, actors and local variables, from any thread. The value is in
/// memory in the clear as long as such a property exists; use ``Store`` for values that must not
/// be.
@propertyWrapper
public struct Live<Property: Sendable & Equatable, StorageType: Sendable>: Sendable, BlockingCalls {
  // One reference, so that a read copies no structure: the compiler retains what it copies.
  @usableFromInline let parts: LiveParts<Property, StorageType>

  /// Creates an optional property.
  package init(
    _ given: StorageType, optional source: any LiveSource<Property>,
    validate: (@Sendable (Property) -> Bool)? = nil
  ) where Property: ExpressibleByNilLiteral {
    parts = LiveParts(given, optional: LiveAnchor(source, absent: nil, validate))
  }

  /// Creates a property with a default.
  package init(
    wrappedValue: Property, _ given: StorageType, defaulted source: any LiveSource<Property?>,
    validate: (@Sendable (Property) -> Bool)? = nil
  ) {
    let check = validate.map { check in
      { @Sendable (value: Property?) in value.map { check($0) } ?? true }
    }
    parts = LiveParts(
      given, defaulted: LiveAnchor(source, absent: nil, check), fallback: wrappedValue)
  }

  var form: LiveParts<Property, StorageType>.Form { parts.form }

  /// The value in memory, which follows the storage.
  public var wrappedValue: Property {
    @inlinable get {
      // Costs one relaxed load outside of tests.
      if TestStores.areInUse { return valueInTests }
      return parts.value
    }
    nonmutating set {
      switch form {
      case .optional(let anchor): anchor.set(newValue)
      case .defaulted(let anchor, _): anchor.set(newValue)
      }
    }
  }

  /// The value while a test has its own stores, which this property may have to use.
  @usableFromInline var valueInTests: Property {
    switch form {
    case .optional(let anchor): anchor.getInTest()
    case .defaulted(let anchor, let value): anchor.getInTest() ?? value
    }
  }

  /// The wrapper itself: `$property.save(_:)` and the like.
  public var projectedValue: Live { self }
}

// MARK: - Properties with a default

extension Live where Property: Codable, StorageType: Storage {
  /// Creates a property with a default.
  ///
  /// The storage is not accessed before the first use.
  ///
  /// - Parameters:
  ///   - wrappedValue: the default.
  ///   - storage: the storage that holds the value.
  ///   - key: the property's key.
  ///   - validate: whether a value is accepted; nil accepts all. It runs on any thread, possibly
  ///     several times for one value, and must not use the property.
  public init(
    wrappedValue: Property, _ storage: StorageType, _ key: StoreKey,
    validate: (@Sendable (Property) -> Bool)? = nil
  ) {
    self.init(
      wrappedValue: wrappedValue, storage, key, validate: validate, followsTests: false)
  }

  fileprivate init(
    wrappedValue: Property, _ storage: StorageType, _ key: StoreKey,
    validate: (@Sendable (Property) -> Bool)? = nil, followsTests: Bool
  ) {
    let coder: ValueCoder<Property> = storage.store.liveCoder()
    let source = PropertyCore(
      storage, storage.store.name(ofProperty: key), coder.optional, followsTests: followsTests)
    self.init(wrappedValue: wrappedValue, storage, defaulted: source, validate: validate)
  }

  /// Creates a property with a default, whose key is a case of an enumeration over `String`.
  public init<Key: RawRepresentable<String>>(
    wrappedValue: Property, _ storage: StorageType, _ key: Key,
    validate: (@Sendable (Property) -> Bool)? = nil
  ) {
    self.init(wrappedValue: wrappedValue, storage, key.rawValue, validate: validate)
  }

  /// Creates a property with an initial value, which is stored if the key has no value, as some
  /// other packages do; nil is the absence of a value if the property is optional.
  ///
  /// Looks at the type: for a literal, overload resolution may take the initialiser of properties
  /// that are not optional.
  package init(initialValue: Property, _ storage: StorageType, _ key: StoreKey) {
    let name = storage.store.name(ofProperty: key)
    if let coder: ValueCoder<Property> = storage.store.optionalCoder(),
      let absent = (Any?.none as Any) as? Property
    {
      let source = PropertyCore(storage, name, coder, followsTests: false)
      let anchor = LiveAnchor<Property>(source, absent: absent)
      parts = LiveParts(storage, optional: anchor)
      anchor.register(initialValue)
    } else {
      let coder: ValueCoder<Property> = storage.store.liveCoder()
      let source = PropertyCore(storage, name, coder.optional, followsTests: false)
      let anchor = LiveAnchor<Property?>(source, absent: nil)
      parts = LiveParts(storage, defaulted: anchor, fallback: initialValue)
      anchor.register(initialValue)
    }
  }
}

extension Live where Property: Codable, StorageType: StandardStorage {
  /// Creates a property of the standard storage with a default.
  ///
  /// - Parameters:
  ///   - wrappedValue: the default.
  ///   - key: the property's key.
  ///   - validate: whether a value is accepted; nil accepts all. It runs on any thread, possibly
  ///     several times for one value, and must not use the property.
  public init(
    wrappedValue: Property, _ key: StoreKey, validate: (@Sendable (Property) -> Bool)? = nil
  ) {
    self.init(
      wrappedValue: wrappedValue, .standard, key, validate: validate, followsTests: true)
  }

  /// Creates a property of the standard storage with a default, whose key is a case of an
  /// enumeration over `String`.
  public init<Key: RawRepresentable<String>>(
    wrappedValue: Property, _ key: Key, validate: (@Sendable (Property) -> Bool)? = nil
  ) {
    self.init(
      wrappedValue: wrappedValue, .standard, key.rawValue, validate: validate, followsTests: true)
  }
}

// MARK: - Optional properties

extension Live where Property: Codable & ExpressibleByNilLiteral, StorageType: Storage {
  /// Creates a property without an initial value.
  ///
  /// The storage is not accessed before the first use.
  ///
  /// - Parameters:
  ///   - storage: the storage that holds the value.
  ///   - key: the property's key.
  public init(_ storage: StorageType, _ key: StoreKey) {
    self.init(storage, key, followsTests: false)
  }

  /// Creates a property without an initial value, which checks its values.
  ///
  /// - Parameters:
  ///   - storage: the storage that holds the value.
  ///   - key: the property's key.
  ///   - validate: whether a value is accepted; it is not asked about nil. It runs on any thread,
  ///     possibly several times for one value, and must not use the property.
  public init<Wrapped>(
    _ storage: StorageType, _ key: StoreKey, validate: @escaping @Sendable (Wrapped) -> Bool
  ) where Property == Wrapped? {
    self.init(storage, key, validate: { $0.map(validate) ?? true }, followsTests: false)
  }

  fileprivate init(
    _ storage: StorageType, _ key: StoreKey, validate: (@Sendable (Property) -> Bool)? = nil,
    followsTests: Bool
  ) {
    if let coder: ValueCoder<Property> = storage.store.optionalCoder() {
      let source = PropertyCore(
        storage, storage.store.name(ofProperty: key), coder, followsTests: followsTests)
      self.init(storage, optional: source, validate: validate)
    } else {
      // A type of the program that has its own nil.
      self.init(
        wrappedValue: nil, storage, key, validate: validate, followsTests: followsTests)
    }
  }

  fileprivate init(
    initial: Property, _ storage: StorageType, _ key: StoreKey, followsTests: Bool
  ) {
    self.init(storage, key, followsTests: followsTests)
    if case .optional(let anchor) = form { anchor.register(initial) }
  }

  /// Creates a property with an initial value, which is stored if the key has no value.
  ///
  /// - Parameters:
  ///   - wrappedValue: the initial value; nil means no initial value.
  ///   - storage: the storage that holds the value.
  ///   - key: the property's key.
  public init(wrappedValue: Property, _ storage: StorageType, _ key: StoreKey) {
    self.init(initial: wrappedValue, storage, key, followsTests: false)
  }

  /// Creates a property whose key is a case of an enumeration over `String`.
  public init<Key: RawRepresentable<String>>(_ storage: StorageType, _ key: Key) {
    self.init(storage, key.rawValue)
  }

  /// Creates a property with an initial value, whose key is a case of an enumeration over `String`.
  public init<Key: RawRepresentable<String>>(
    wrappedValue: Property, _ storage: StorageType, _ key: Key
  ) {
    self.init(wrappedValue: wrappedValue, storage, key.rawValue)
  }
}

extension Live
where Property: Codable & ExpressibleByNilLiteral, StorageType: StandardStorage {
  /// Creates a property of the standard storage.
  public init(_ key: StoreKey) {
    self.init(.standard, key, followsTests: true)
  }

  /// Creates a property of the standard storage, which checks its values.
  ///
  /// - Parameters:
  ///   - key: the property's key.
  ///   - validate: whether a value is accepted; it is not asked about nil. It runs on any thread,
  ///     possibly several times for one value, and must not use the property.
  public init<Wrapped>(
    _ key: StoreKey, validate: @escaping @Sendable (Wrapped) -> Bool
  ) where Property == Wrapped? {
    self.init(.standard, key, validate: { $0.map(validate) ?? true }, followsTests: true)
  }

  /// Creates a property of the standard storage with an initial value, which is stored if the key
  /// has no value.
  public init(wrappedValue: Property, _ key: StoreKey) {
    self.init(initial: wrappedValue, .standard, key, followsTests: true)
  }

  /// Creates a property of the standard storage whose key is a case of an enumeration over
  /// `String`.
  public init<Key: RawRepresentable<String>>(_ key: Key) {
    self.init(.standard, key.rawValue, followsTests: true)
  }

  /// Creates a property of the standard storage with an initial value, whose key is a case of an
  /// enumeration over `String`.
  public init<Key: RawRepresentable<String>>(wrappedValue: Property, _ key: Key) {
    self.init(initial: wrappedValue, .standard, key.rawValue, followsTests: true)
  }
}

extension Live: RedactedDescription {
  /// The key, and neither value nor default.
  public var description: String { "Live(\"\(key)\")" }
}
