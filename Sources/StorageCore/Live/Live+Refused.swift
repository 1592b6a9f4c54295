// Declarations that the compiler refuses with a message that says what to write instead. None of
// these can be called.

extension Live where Property: Codable {
  /// Not available: the property needs a default, or an optional type.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: "give it a default or an optional type: `var x = 0` or `var x: Int?`"
  )
  public init<Key>(_ storage: StorageType, _ key: Key) { refusedByTheCompiler() }
}

extension Live where Property: Codable, StorageType: StandardStorage {
  /// Not available: the property needs a default, or an optional type.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: "give it a default or an optional type: `var x = 0` or `var x: Int?`"
  )
  public init<Key>(_ key: Key) { refusedByTheCompiler() }

  /// Not available: the property needs a key.
  @available(
    *, unavailable,
    message: "name the key, as in @LiveVault(\"launches\") var launches = 0"
  )
  public init(wrappedValue: Property) { refusedByTheCompiler() }
}
