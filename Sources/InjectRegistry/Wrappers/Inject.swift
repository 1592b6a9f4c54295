/// A dependency that may be missing.
///
///     @Inject var api: (any API)?
///     @Inject(.instance) var request: Request?
///     @Inject(Dog.self) var animal: (any Animal)?
///     @Inject(group: "shop") var api: (any API)?
///
/// The wrapper finds what it asks for when it is made, and each read is one look at it. A read
/// gives the dependency that is registered at that time, so a property may be made before its
/// dependency is registered. With ``InjectScope/instance``, and with parameters, every read builds
/// a new instance: keep it in a `let` to use it twice. It may be read from any thread.
@propertyWrapper
public struct Inject<Dependency: Sendable>: Sendable {
  @usableFromInline let injection: Injection<Dependency>

  /// Injects the registered dependency.
  ///
  /// - Parameters:
  ///   - scope: the scope to give it in, or nil for the registered one.
  ///   - group: the group that is looked into before the general registry, or nil.
  ///   - fileID: the place to name in errors.
  ///   - line: its line.
  ///   - column: its column.
  public init(
    _ scope: InjectScope? = nil, group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    injection = Injection(
      scope: scope, group: group, InjectLocation(fileID: fileID, line: line, column: column))
  }

  /// Injects what is of all the given types or protocols.
  ///
  /// The first is no variadic one: if the group is no literal, the compiler takes a variadic
  /// metatype for parameters.
  ///
  /// - Parameters:
  ///   - qualifier: a type or protocol: `Dog.self`.
  ///   - others: more of them.
  ///   - group: the group that is looked into before the general registry, or nil.
  ///   - fileID: the place to name in errors.
  ///   - line: its line.
  ///   - column: its column.
  public init(
    _ qualifier: any Any.Type, _ others: any Any.Type..., group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    injection = Injection(
      [qualifier] + others, group: group,
      InjectLocation(fileID: fileID, line: line, column: column))
  }

  /// Injects what is of all the given types or protocols, in a scope.
  ///
  /// - Parameters:
  ///   - scope: the scope to give it in.
  ///   - qualifiers: types or protocols: `Dog.self`.
  ///   - group: the group that is looked into before the general registry, or nil.
  ///   - fileID: the place to name in errors.
  ///   - line: its line.
  ///   - column: its column.
  public init(
    _ scope: InjectScope, _ qualifiers: any Any.Type..., group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    injection = Injection(
      qualifiers, scope: scope, group: group,
      InjectLocation(fileID: fileID, line: line, column: column))
  }

  /// Injects what is of all the types or protocols of a list.
  ///
  /// - Parameters:
  ///   - qualifiers: types or protocols: `[Dog.self]`.
  ///   - group: the group that is looked into before the general registry, or nil.
  ///   - fileID: the place to name in errors.
  ///   - line: its line.
  ///   - column: its column.
  public init(
    _ qualifiers: [any Any.Type], group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    injection = Injection(
      qualifiers, group: group, InjectLocation(fileID: fileID, line: line, column: column))
  }

  /// Injects a new instance at each read, built with parameters.
  ///
  /// - Parameters:
  ///   - parameters: what the builder is given.
  ///   - type: the type of the parameters, which chooses the builder, too; if it is not given,
  ///     their declared type.
  ///   - group: the group that is looked into before the general registry, or nil.
  ///   - fileID: the place to name in errors.
  ///   - line: its line.
  ///   - column: its column.
  @_disfavoredOverload  // A metatype is a qualifier, and no parameters.
  public init<Parameters: Sendable>(
    _ parameters: Parameters, as type: Parameters.Type = Parameters.self,
    group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    injection = Injection(
      group: group, parameters: ParameterBox(parameters),
      InjectLocation(fileID: fileID, line: line, column: column))
  }

  /// The dependency, or nil when there is none.
  ///
  /// Errors go to ``InjectStorage/errorClosure``, else to ``InjectDiagnostics``.
  public var wrappedValue: Dependency? {
    // Inlinable, so that a read is specialised: `make bench`.
    @inlinable get {
      if let place = unsafe injection.node.place { return unsafe place.pointee }
      return injection.valueOrReport()
    }
  }

  /// The wrapper itself: `$property.resolve()` and the like.
  public var projectedValue: Inject { self }

  /// The dependency.
  ///
  /// - Returns: what reading the property gives.
  /// - Throws: `notFound`, `moreThanOne`, `cycle`, `builderFailed`, `needsAwait`, `wrongScope`.
  public func resolve() throws(InjectError) -> Dependency { try injection.resolve() }

  /// The dependency, whose builder may be async.
  ///
  /// - Returns: what reading the property gives.
  /// - Throws: `notFound`, `moreThanOne`, `cycle`, `builderFailed`, `wrongScope`.
  public func resolveAsync() async throws(InjectError) -> Dependency {
    try await injection.resolveAsync()
  }
}
