// Declarations that the compiler refuses with a message that says what to write instead. None of
// these can be called.

internal import StorageCore

extension UnwrappedStored {
  /// Not available: the property needs a default.
  @available(
    *, unavailable,
    message: "give it a default, as in `var x = 0`, or use @Stored and write `var x: Int?`"
  )
  public init(_ key: Key, router: StorageRouter? = nil) { refusedByTheCompiler() }

  /// Not available: a typed key says more than a name.
  @available(
    *, unavailable,
    message: "a typed key is needed, as in @Stored(Key()); for a name, use @Vault or @UserDefault"
  )
  public init<Value>(wrappedValue: Value, _ name: String, router: StorageRouter? = nil)
  where Key == StoredKey<Value> { refusedByTheCompiler() }
}

extension Stored {
  /// Not available: a typed key says more than a name.
  @available(
    *, unavailable,
    message: "a typed key is needed, as in @Stored(Key()); for a name, use @Vault or @UserDefault"
  )
  public init<Value>(_ name: String, router: StorageRouter? = nil)
  where Key == StoredKey<Value> { refusedByTheCompiler() }
}

extension LiveStored where Property: Codable {
  /// Not available: the property needs a default, or an optional type.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: "give it a default or an optional type: `var x = 0` or `var x: Int?`"
  )
  public init<Key: StorageKey<Property>>(_ key: Key, router: StorageRouter = .shared) {
    refusedByTheCompiler()
  }
}
