extension InjectStorage {
  /// Registers a value, which is the same at each injection.
  ///
  ///     storage.register(Client(), as: (any API).self)
  ///     storage.register({ Date() }, as: (@Sendable () -> Date).self)
  ///
  /// Registering again at the same place in source replaces the earlier registration. A second
  /// place is a second registration, and requests for the type are then ambiguous unless a
  /// qualifier, a group or ``Mock`` decides.
  ///
  /// - Parameters:
  ///   - dependency: the value. A function is a value only if `type` is given; else it is a
  ///     builder.
  ///   - type: the type that it is injected as; if it is not given, the declared type of the value.
  ///   - group: the group to register it in, or nil for the general registry.
  ///   - fileID: the place of the registration; pass yours on if you register for your callers.
  ///   - line: its line.
  ///   - column: its column.
  @_disfavoredOverload  // A closure is a builder, and not a value.
  public func register<Dependency: Sendable>(
    _ dependency: Dependency, as type: Dependency.Type = Dependency.self,
    group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    // `type` also keeps Swift 6 from taking the type of the content for that of an existential:
    // SE-0352 opens no argument whose type another parameter has, too. Swift 5 opens none here.
    let location = InjectLocation(fileID: fileID, line: line, column: column)
    add(Registration(.value(dependency), group: group, scope: .singleton, location))
  }

  /// Registers a builder, which runs when the dependency is needed.
  ///
  /// - Parameters:
  ///   - scope: how many instances it makes, and how long they are kept.
  ///   - group: the group to register it in, or nil for the general registry.
  ///   - fileID: the place of the registration.
  ///   - line: its line.
  ///   - column: its column.
  ///   - builder: makes an instance, of the type that it is injected as; may resolve others. A
  ///     thrown error becomes the `underlying` error of `builderFailed`, and nothing is kept.
  public func register<Dependency: Sendable, Failure: Error>(
    scope: InjectScope = .singleton, group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    _ builder: @escaping @Sendable () throws(Failure) -> Dependency
  ) {
    let location = InjectLocation(fileID: fileID, line: line, column: column)
    add(Registration(.builder(builder), group: group, scope: scope, location))
  }

  /// Registers an async builder.
  ///
  /// Its instance is resolved with `await`, and without `await` once it is kept.
  ///
  /// - Parameters:
  ///   - scope: how many instances it makes, and how long they are kept.
  ///   - group: the group to register it in, or nil for the general registry.
  ///   - fileID: the place of the registration.
  ///   - line: its line.
  ///   - column: its column.
  ///   - builder: makes an instance.
  public func register<Dependency: Sendable>(
    scope: InjectScope = .singleton, group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    _ builder: @escaping @Sendable () async throws -> Dependency
  ) {
    let location = InjectLocation(fileID: fileID, line: line, column: column)
    add(Registration(.asyncBuilder(builder), group: group, scope: scope, location))
  }

  /// Registers a builder that is given parameters, and makes a new instance each time.
  ///
  /// - Parameters:
  ///   - group: the group to register it in, or nil for the general registry.
  ///   - fileID: the place of the registration.
  ///   - line: its line.
  ///   - column: its column.
  ///   - builder: makes an instance.
  public func register<Value: Sendable, Dependency: Sendable, Failure: Error>(
    group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    _ builder: @escaping @Sendable (Value) throws(Failure) -> Dependency
  ) {
    let location = InjectLocation(fileID: fileID, line: line, column: column)
    let maker = Maker.parametrised { parameters in try builder(Self.unwrapped(parameters)) }
    add(
      Registration(maker, parameters: Value.self, group: group, scope: .instance, location))
  }

  /// Registers an async builder that is given parameters, and makes a new instance each time.
  ///
  /// - Parameters:
  ///   - group: the group to register it in, or nil for the general registry.
  ///   - fileID: the place of the registration.
  ///   - line: its line.
  ///   - column: its column.
  ///   - builder: makes an instance.
  public func register<Value: Sendable, Dependency: Sendable>(
    group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    _ builder: @escaping @Sendable (Value) async throws -> Dependency
  ) {
    let location = InjectLocation(fileID: fileID, line: line, column: column)
    let maker = Maker.asyncParametrised { parameters in
      try await builder(Self.unwrapped(parameters))
    }
    add(
      Registration(maker, parameters: Value.self, group: group, scope: .instance, location))
  }

  /// The parameters, cast to the type by which the builder was found.
  static func unwrapped<Value>(_ parameters: any Sendable) -> Value {
    guard let value = parameters as? Value else {
      preconditionFailure("a builder was found for parameters of another type")
    }
    return value
  }
}
