// Declarations that the compiler refuses with a message that says what to write instead. None of
// these can be called.

extension UnwrappedStore {
  /// Not available: the property needs a default.
  @available(
    *, unavailable,
    message: "give it a default, as in `var x = 0`, or drop Unwrapped and write `var x: Int?`"
  )
  public init<Key>(_ storage: StorageType, _ key: Key) {
    refusedByTheCompiler()
  }
}

extension UnwrappedStore where StorageType: StandardStorage {
  /// Not available: the property needs a default.
  @available(
    *, unavailable,
    message: "give it a default, as in `var x = 0`, or drop Unwrapped and write `var x: Int?`"
  )
  public init<Key>(_ key: Key) { refusedByTheCompiler() }

  /// Not available: the property needs a key.
  @available(
    *, unavailable,
    message: "name the key, as in @UnwrappedVault(\"launches\") var launches = 0"
  )
  public init(wrappedValue: Value) { refusedByTheCompiler() }
}

extension UnwrappedCodableStore {
  /// Not available: the property needs a default.
  @available(
    *, unavailable,
    message: "give it a default, as in `var x = 0`, or drop Unwrapped and write `var x: Int?`"
  )
  public init<Key>(_ storage: StorageType, _ key: Key, coding: CodableCoding = .json) {
    refusedByTheCompiler()
  }
}

extension UnwrappedCodableStore where StorageType: StandardStorage {
  /// Not available: the property needs a default.
  @available(
    *, unavailable,
    message: "give it a default, as in `var x = 0`, or drop Unwrapped and write `var x: Int?`"
  )
  public init<Key>(_ key: Key, coding: CodableCoding = .json) { refusedByTheCompiler() }

  /// Not available: the property needs a key.
  @available(
    *, unavailable,
    message: "name the key, as in @UnwrappedVault(\"launches\") var launches = 0"
  )
  public init(wrappedValue: Value) { refusedByTheCompiler() }
}
