extension InjectStorage {
  /// The dependency of a type, in the scope that it is registered in.
  ///
  /// - Parameters:
  ///   - type: the type that it was registered as: `(any API).self`.
  ///   - fileID: the place to name in errors.
  ///   - line: its line.
  ///   - column: its column.
  /// - Returns: the instance. One that was built before costs no lock and no allocation.
  /// - Throws: `notFound`, `moreThanOne`, `cycle`, `builderFailed`, `needsAwait`, `wrongScope`.
  @inlinable
  public func resolve<Dependency: Sendable>(
    _ type: Dependency.Type = Dependency.self,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) throws(InjectError) -> Dependency {
    // Inlinable, so that it is specialised where it is called: `make bench`. Not found by `type`,
    // which may be the type of a subclass.
    if let pointer = unsafe table.node(of: ObjectIdentifier(Dependency.self)) {
      // Sound because the storage keeps its nodes, and the type is the node's.
      let node = unsafe Unmanaged<Node<Dependency>>.fromOpaque(pointer)
      let place = unsafe node._withUnsafeGuaranteedRef { unsafe $0.place }
      if let place = unsafe place { return unsafe place.pointee }
      return try unsafe node.takeUnretainedValue().value(
        nil, InjectLocation(fileID: fileID, line: line, column: column))
    }
    return try find(type, InjectLocation(fileID: fileID, line: line, column: column))
  }

  @usableFromInline @inline(never)
  func find<Dependency: Sendable>(
    _ type: Dependency.Type, _ location: InjectLocation
  ) throws(InjectError) -> Dependency {
    let node = node(type)
    return try node.value(nil, location)
  }

  /// The dependency of a type, with further conditions.
  ///
  /// - Parameters:
  ///   - type: the type that it was registered as.
  ///   - qualifiers: types or protocols that the instance has to be of, all of them.
  ///   - scope: the scope to give it in, or nil for the registered one.
  ///   - group: the group that is looked into before the general registry, or nil.
  ///   - fileID: the place to name in errors.
  ///   - line: its line.
  ///   - column: its column.
  /// - Returns: the instance.
  /// - Throws: `notFound`, `moreThanOne`, `cycle`, `builderFailed`, `needsAwait`, `wrongScope`.
  public func resolve<Dependency: Sendable>(
    _ type: Dependency.Type = Dependency.self, _ qualifiers: any Any.Type...,
    scope: InjectScope? = nil, group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) throws(InjectError) -> Dependency {
    try node(type, qualifiers, scope: scope, group: group)
      .value(nil, InjectLocation(fileID: fileID, line: line, column: column))
  }

  /// A new instance, built with parameters.
  ///
  /// - Parameters:
  ///   - type: the type that it was registered as.
  ///   - parameters: what the builder is given.
  ///   - parametersType: the type of the parameters, which chooses the builder, too; if it is not
  ///     given, their declared type.
  ///   - qualifiers: types or protocols that the instance has to be of, all of them.
  ///   - group: the group that is looked into before the general registry, or nil.
  ///   - fileID: the place to name in errors.
  ///   - line: its line.
  ///   - column: its column.
  /// - Returns: the instance.
  /// - Throws: `notFound`, `moreThanOne`, `cycle`, `builderFailed`, `needsAwait`.
  public func resolve<Dependency: Sendable, Value: Sendable>(
    _ type: Dependency.Type = Dependency.self, with parameters: Value,
    as parametersType: Value.Type = Value.self, _ qualifiers: any Any.Type...,
    group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) throws(InjectError) -> Dependency {
    let parameters = ParameterBox(parameters)
    return try node(type, qualifiers, group: group, parameters: parameters)
      .resolve(parameters, InjectLocation(fileID: fileID, line: line, column: column))
  }

  /// All dependencies of a type, in the order of their registration.
  ///
  /// They come from the innermost override that has any, else from the group, else from the general
  /// registry; if there are mocks among them, only the mocks.
  ///
  /// - Parameters:
  ///   - type: the type that they were registered as.
  ///   - qualifiers: types or protocols that an instance has to be of, all of them.
  ///   - group: the group that is looked into before the general registry, or nil.
  ///   - fileID: the place to name in errors.
  ///   - line: its line.
  ///   - column: its column.
  /// - Returns: the instances; none if nothing is registered.
  /// - Throws: `cycle`, `builderFailed`, `needsAwait`, `wrongScope`.
  public func resolveAll<Dependency: Sendable>(
    _ type: Dependency.Type = Dependency.self, _ qualifiers: any Any.Type...,
    group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) throws(InjectError) -> [Dependency] {
    try node(type, qualifiers, group: group)
      .resolveAll(InjectLocation(fileID: fileID, line: line, column: column))
  }

  /// The dependency of a type, whose builder may be async.
  ///
  /// - Parameters:
  ///   - type: the type that it was registered as.
  ///   - qualifiers: types or protocols that the instance has to be of, all of them.
  ///   - scope: the scope to give it in, or nil for the registered one.
  ///   - group: the group that is looked into before the general registry, or nil.
  ///   - fileID: the place to name in errors.
  ///   - line: its line.
  ///   - column: its column.
  /// - Returns: the instance.
  /// - Throws: `notFound`, `moreThanOne`, `cycle`, `builderFailed`, `wrongScope`. If the task is
  ///   cancelled while it waits for another task's builder, `builderFailed` with a
  ///   `CancellationError`.
  public func resolveAsync<Dependency: Sendable>(
    _ type: Dependency.Type = Dependency.self, _ qualifiers: any Any.Type...,
    scope: InjectScope? = nil, group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) async throws(InjectError) -> Dependency {
    try await node(type, qualifiers, scope: scope, group: group)
      .resolveAsync(nil, InjectLocation(fileID: fileID, line: line, column: column))
  }

  /// A new instance, built with parameters by a builder that may be async.
  ///
  /// - Parameters:
  ///   - type: the type that it was registered as.
  ///   - parameters: what the builder is given.
  ///   - parametersType: the type of the parameters, which chooses the builder, too; if it is not
  ///     given, their declared type.
  ///   - qualifiers: types or protocols that the instance has to be of, all of them.
  ///   - group: the group that is looked into before the general registry, or nil.
  ///   - fileID: the place to name in errors.
  ///   - line: its line.
  ///   - column: its column.
  /// - Returns: the instance.
  /// - Throws: `notFound`, `moreThanOne`, `cycle`, `builderFailed`.
  public func resolveAsync<Dependency: Sendable, Value: Sendable>(
    _ type: Dependency.Type = Dependency.self, with parameters: Value,
    as parametersType: Value.Type = Value.self, _ qualifiers: any Any.Type...,
    group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) async throws(InjectError) -> Dependency {
    let parameters = ParameterBox(parameters)
    return try await node(type, qualifiers, group: group, parameters: parameters)
      .resolveAsync(parameters, InjectLocation(fileID: fileID, line: line, column: column))
  }

  /// All dependencies of a type, whose builders may be async, in the order of their registration.
  ///
  /// - Parameters:
  ///   - type: the type that they were registered as.
  ///   - qualifiers: types or protocols that an instance has to be of, all of them.
  ///   - group: the group that is looked into before the general registry, or nil.
  ///   - fileID: the place to name in errors.
  ///   - line: its line.
  ///   - column: its column.
  /// - Returns: the instances; none if nothing is registered.
  /// - Throws: `cycle`, `builderFailed`, `wrongScope`.
  public func resolveAllAsync<Dependency: Sendable>(
    _ type: Dependency.Type = Dependency.self, _ qualifiers: any Any.Type...,
    group: DependencyGroupKey? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) async throws(InjectError) -> [Dependency] {
    try await node(type, qualifiers, group: group)
      .resolveAllAsync(InjectLocation(fileID: fileID, line: line, column: column))
  }
}
