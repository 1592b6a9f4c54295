/// A dependency that is built with parameters at each read, and must exist.
///
///     @UnwrappedInjectWith(Parameters(retries: 3)) var api: any API
///
/// The wrapper finds what it asks for when it is made, and each read is one look at it. A read
/// gives the dependency that is registered at that time, so a property may be made before its
/// dependency is registered. With ``InjectScope/instance``, and with parameters, every read builds
/// a new instance: keep it in a `let` to use it twice. It may be read from any thread.
@propertyWrapper
public struct UnwrappedInjectWith<Dependency: Sendable, Parameters: Sendable>: Sendable {
  @usableFromInline let injection: Injection<Dependency>

  /// Injects a new instance at each read, built with parameters.
  ///
  /// - Parameters:
  ///   - parameters: what the builder is given; their type chooses the builder, too.
  ///   - qualifiers: types or protocols that the instance has to be of, all of them.
  ///   - group: the group that is looked into before the general registry, or nil.
  ///   - fileID: the place to name in errors.
  ///   - line: its line.
  ///   - column: its column.
  public init(
    _ parameters: Parameters, _ qualifiers: any Any.Type..., group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    injection = Injection(
      qualifiers, group: group, parameters: ParameterBox(parameters),
      InjectLocation(fileID: fileID, line: line, column: column))
  }

  /// The dependency; without one the process stops with the error.
  public var wrappedValue: Dependency {
    // Inlinable, so that a read is specialised: `make bench`.
    @inlinable get { injection.valueOrStop() }
  }

  /// The wrapper itself: `$property.resolve()` and the like.
  public var projectedValue: UnwrappedInjectWith { self }

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
