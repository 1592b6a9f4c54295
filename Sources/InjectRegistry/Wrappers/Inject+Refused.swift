// Calls that the compiler refuses with a message that says what to write instead. None can be
// called.

extension Inject {
  /// Not available: what is injected is registered elsewhere.
  @available(*, unavailable, message: "register the value: @Register var x: any API = Client()")
  public init(wrappedValue: Dependency?) { fatalError("not available") }
}

extension UnwrappedInject {
  /// Not available: what is injected is registered elsewhere.
  @available(*, unavailable, message: "register the value: @Register var x: any API = Client()")
  public init(wrappedValue: Dependency) { fatalError("not available") }
}
