// Declarations that the compiler refuses with a message that says what to write instead. None of
// these can be called.

public import ProviderBackend
internal import StorageCore

extension KeychainStorage where Property: Codable {
  /// Not available: the property needs an initial value, or an optional type.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: "give it an initial value or an optional type: `var x = 0` or `var x: Int?`"
  )
  public init(provider: some KeychainProvider, key: String) { refusedByTheCompiler() }

  /// Not available: the property needs an initial value, or an optional type.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: "give it an initial value or an optional type: `var x = 0` or `var x: Int?`"
  )
  public init(keychainProvider: some KeychainProvider, key: String) {
    refusedByTheCompiler()
  }
}
