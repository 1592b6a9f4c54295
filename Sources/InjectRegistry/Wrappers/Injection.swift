/// The common part of the four wrappers: a node, the parameters, and the place in source.
@usableFromInline
struct Injection<Dependency: Sendable>: Sendable {
  @usableFromInline let node: Node<Dependency>
  @usableFromInline let parameters: ParameterBox?
  @usableFromInline let location: InjectLocation

  /// Looks for the node, once.
  init(
    _ qualifiers: [any Any.Type] = [], scope: InjectScope? = nil, group: DependencyGroupKey? = nil,
    parameters: ParameterBox? = nil, _ location: InjectLocation
  ) {
    node = InjectStorage.standard.node(
      Dependency.self, qualifiers, scope: scope, group: group, parameters: parameters,
      at: location)
    self.parameters = parameters
    self.location = location
  }

  /// The dependency, or the error.
  @inlinable
  func resolve() throws(InjectError) -> Dependency { try node.value(parameters, location) }

  /// The dependency, where its builder may be async, or the error.
  func resolveAsync() async throws(InjectError) -> Dependency {
    try await node.resolveAsync(parameters, location)
  }

  /// The dependency, or nil and a report; for an instance that is not published.
  @inlinable @inline(never)
  func valueOrReport() -> Dependency? {
    do throws(InjectError) {
      return try resolve()
    } catch {
      report(error)
      return nil
    }
  }

  /// The dependency, or the process stops; for an instance that is not published.
  @inlinable @inline(never)
  func valueOrStop() -> Dependency {
    do throws(InjectError) {
      return try resolve()
    } catch {
      return live(after: error)
    }
  }

  /// Reports an error that can't be thrown.
  @usableFromInline @inline(never)
  func report(_ error: InjectError) {
    // The closure has already seen each `notFound`. A strict test may have been told.
    if let closure = InjectStorage.standard.errorClosure {
      if error.code != .notFound { InjectDiagnostics.hand(error) { closure($0) } }
    } else if !error.isReported {
      InjectDiagnostics.report(error)
    }
  }

  /// The live dependency, which a failed strict test uses all the same; any other error ends the
  /// process.
  @usableFromInline @inline(never)
  func live(after error: InjectError) -> Dependency {
    // Stopping would end all other tests.
    guard error.code == .liveInTest else { Self.stop(error) }
    do throws(InjectError) {
      // Its builder may need live dependencies, too.
      return try LiveUse.allowed { () throws(InjectError) in
        try node.resolve(parameters, location, allowsLive: true)
      }
    } catch {
      Self.stop(error)
    }
  }

  /// Ends the process: the property has no way to say that there is no value.
  ///
  /// A strict test is told first, with advice how to end only itself.
  static func stop(_ error: InjectError) -> Never {
    let advice =
      """

        the process ends  because a property can't throw; the other tests end with it. To fail only this
                          test, use `try $property.resolve()`, for example in the init of its suite
      """
    // A Swift getter can only return a value. Not a precondition, because a release build omits its text.
    fatalError("InjectError.\(error)\(error.isReported ? advice : "")")
  }
}

/// Whether live dependencies may be used in a strict test that has already failed because of one.
enum LiveUse {
  @TaskLocal static var isAllowed = false

  static func allowed<Result>(
    _ body: () throws(InjectError) -> Result
  ) throws(InjectError) -> Result {
    var result: Swift.Result<Result, InjectError>?
    $isAllowed.withValue(true) {
      result = Swift.Result { () throws(InjectError) in try body() }
    }
    return try result!.get()
  }
}
