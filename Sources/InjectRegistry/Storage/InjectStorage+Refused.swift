// Calls that the compiler refuses with a message that says what to write instead. None can be
// called.

extension InjectStorage {
  /// Not available: the type must be given.
  @_disfavoredOverload
  @available(*, unavailable, message: "say which type: resolve(Client.self)")
  public func resolve() throws(InjectError) { fatalError("not available") }

  /// Not available: a dependency is requested by its type.
  @_disfavoredOverload
  @available(*, unavailable, message: "ask for the type: resolve(Client.self)")
  public func resolve<Dependency: Sendable>(
    _ instance: Dependency
  ) throws(InjectError) -> Dependency { fatalError("not available") }
}
