// The result of a builder without a scope is `sending`. A closure takes this from the context, but
// nobody writes it in the type of a property, and the name of a function doesn't have it. So these
// two are values. For a Sendable result, `sending` means nothing.

extension Register {
  /// Registers a builder, which runs when the dependency is needed, and whose instance is kept.
  ///
  /// - Parameters:
  ///   - wrappedValue: makes an instance, of the type that it is injected as.
  ///   - group: the group to register it in, or nil for the general registry.
  ///   - fileID: the place of the registration.
  ///   - line: its line.
  ///   - column: its column.
  public init<Dependency: Sendable, Failure: Error>(
    wrappedValue: Value, group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) where Value == @Sendable () throws(Failure) -> sending Dependency {
    self.init(wrappedValue) {
      InjectStorage.standard.register(
        group: group, fileID: fileID, line: line, column: column, $0)
    }
  }

  /// Registers a builder in a scope.
  ///
  /// A value has no scope, so a function with a scope is a builder even if its type is written.
  ///
  /// - Parameters:
  ///   - wrappedValue: makes an instance, of the type that it is injected as.
  ///   - scope: how many instances it makes, and how long they are kept.
  ///   - group: the group to register it in, or nil for the general registry.
  ///   - fileID: the place of the registration.
  ///   - line: its line.
  ///   - column: its column.
  public init<Dependency: Sendable, Failure: Error>(
    wrappedValue: Value, scope: InjectScope, group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) where Value == @Sendable () throws(Failure) -> Dependency {
    self.init(wrappedValue) {
      InjectStorage.standard.register(
        scope: scope, group: group, fileID: fileID, line: line, column: column, $0)
    }
  }

  /// Registers an async builder; its dependency is resolved with `await`, and without `await` once
  /// it is kept.
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
  ) where Value == @Sendable () async throws -> sending Dependency {
    self.init(wrappedValue) {
      InjectStorage.standard.register(
        group: group, fileID: fileID, line: line, column: column, $0)
    }
  }

  /// Registers an async builder in a scope.
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
  ) where Value == @Sendable () async throws -> Dependency {
    self.init(wrappedValue) {
      InjectStorage.standard.register(
        scope: scope, group: group, fileID: fileID, line: line, column: column, $0)
    }
  }

  /// Registers a builder that is given parameters, and makes a new instance each time.
  ///
  /// - Parameters:
  ///   - wrappedValue: makes an instance, of the type that it is injected as.
  ///   - group: the group to register it in, or nil for the general registry.
  ///   - fileID: the place of the registration.
  ///   - line: its line.
  ///   - column: its column.
  public init<Parameters: Sendable, Dependency: Sendable, Failure: Error>(
    wrappedValue: Value, group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) where Value == @Sendable (Parameters) throws(Failure) -> sending Dependency {
    self.init(wrappedValue) {
      InjectStorage.standard.register(
        group: group, fileID: fileID, line: line, column: column, $0)
    }
  }

  /// Registers an async builder that is given parameters, and makes a new instance each time.
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
  ) where Value == @Sendable (Parameters) async throws -> sending Dependency {
    self.init(wrappedValue) {
      InjectStorage.standard.register(
        group: group, fileID: fileID, line: line, column: column, $0)
    }
  }
}
