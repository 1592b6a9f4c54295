extension Register {
  /// Registers a builder that runs on the main actor: `{ @MainActor in Screen() }`.
  ///
  /// Its dependency is resolved with `await`, and without `await` once it is kept.
  ///
  /// - Parameters:
  ///   - wrappedValue: makes an instance, of the type that it is injected as.
  ///   - group: the group to register it in, or nil for the general registry.
  ///   - fileID: the place of the registration.
  ///   - line: its line.
  ///   - column: its column.
  public init<Dependency: Sendable>(
    wrappedValue: Value, group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) where Value == @MainActor @Sendable () throws -> sending Dependency {
    self.init(wrappedValue) {
      InjectStorage.standard.register(
        group: group, fileID: fileID, line: line, column: column, $0)
    }
  }

  /// Registers a builder that runs on the main actor in a scope.
  ///
  /// - Parameters:
  ///   - wrappedValue: makes an instance, of the type that it is injected as.
  ///   - scope: how many instances it makes, and how long they are kept.
  ///   - group: the group to register it in, or nil for the general registry.
  ///   - fileID: the place of the registration.
  ///   - line: its line.
  ///   - column: its column.
  public init<Dependency: Sendable>(
    wrappedValue: Value, scope: InjectScope, group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) where Value == @MainActor @Sendable () throws -> Dependency {
    self.init(wrappedValue) {
      InjectStorage.standard.register(
        scope: scope, group: group, fileID: fileID, line: line, column: column, $0)
    }
  }

  /// Registers a builder that runs on the main actor, is given parameters, and makes a new instance
  /// each time.
  ///
  /// Its dependency is resolved with `await`.
  ///
  /// - Parameters:
  ///   - wrappedValue: makes an instance, of the type that it is injected as.
  ///   - group: the group to register it in, or nil for the general registry.
  ///   - fileID: the place of the registration.
  ///   - line: its line.
  ///   - column: its column.
  public init<Parameters: Sendable, Dependency: Sendable>(
    wrappedValue: Value, group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) where Value == @MainActor @Sendable (Parameters) throws -> sending Dependency {
    self.init(wrappedValue) {
      InjectStorage.standard.register(
        group: group, fileID: fileID, line: line, column: column, $0)
    }
  }
}
