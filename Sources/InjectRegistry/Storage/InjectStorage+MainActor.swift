extension InjectStorage {
  /// Registers a builder that runs on the main actor.
  ///
  /// Its instance is resolved with `await`, and without `await` once it is kept.
  ///
  /// - Parameters:
  ///   - scope: how many instances it makes, and how long they are kept.
  ///   - group: the group to register it in, or nil for the general registry.
  ///   - fileID: the place of the registration.
  ///   - line: its line.
  ///   - column: its column.
  ///   - builder: makes an instance: `{ @MainActor in Screen() }`.
  public func register<Dependency: Sendable>(
    scope: InjectScope = .singleton, group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    _ builder: @escaping @MainActor @Sendable () throws -> Dependency
  ) {
    let location = InjectLocation(fileID: fileID, line: line, column: column)
    let maker = Maker.asyncBuilder { try await builder() }
    add(Registration(maker, group: group, scope: scope, location))
  }

  /// Registers a builder that runs on the main actor, is given parameters, and makes a new instance
  /// each time.
  ///
  /// - Parameters:
  ///   - group: the group to register it in, or nil for the general registry.
  ///   - fileID: the place of the registration.
  ///   - line: its line.
  ///   - column: its column.
  ///   - builder: makes an instance: `{ @MainActor (style: Style) in Screen(style) }`.
  public func register<Value: Sendable, Dependency: Sendable>(
    group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
    _ builder: @escaping @MainActor @Sendable (Value) throws -> Dependency
  ) {
    let location = InjectLocation(fileID: fileID, line: line, column: column)
    let maker = Maker.asyncParametrised { parameters in
      try await builder(Self.unwrapped(parameters))
    }
    add(
      Registration(maker, parameters: Value.self, group: group, scope: .instance, location))
  }
}
