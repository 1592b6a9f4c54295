// Calls that the compiler refuses with a message that says what to write instead. None can be
// called.

extension Register {
  /// Not available: a scope needs its label.
  @available(*, unavailable, message: "name the scope: @Register(scope: ...) var x = { ... }")
  public init(wrappedValue: Value, _ scope: InjectScope, group: DependencyGroupKey? = nil) {
    fatalError("not available")
  }

  /// Not available: a value is the same for all, and a builder with parameters makes a new instance
  /// each time.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: "only a builder without parameters has a scope: @Register(scope: ...) var x = { ... }"
  )
  public init(wrappedValue: Value, scope: InjectScope, group: DependencyGroupKey? = nil) {
    fatalError("not available")
  }
}
