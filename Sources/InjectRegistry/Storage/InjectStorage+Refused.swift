// What the compiler is to refuse with words that say what to write instead. None can be called.

extension InjectStorage {
  /// Not available: the type has to be known.
  @_disfavoredOverload
  @available(*, unavailable, message: "say which type: resolve(Client.self)")
  public func resolve() throws(InjectError) { fatalError("not available") }

  /// Not available: a dependency is asked for by its type.
  @_disfavoredOverload
  @available(*, unavailable, message: "ask for the type: resolve(Client.self)")
  public func resolve<Dependency: Sendable>(
    _ instance: Dependency
  ) throws(InjectError) -> Dependency { fatalError("not available") }
}
