public import Synchronization

/// The request of an injection: one node for each type, qualifiers, group and scope, kept by its
/// storage; until the end of the session, if it asks for one.
@usableFromInline
final class Node<Dependency: Sendable>: AnyNode, @unchecked Sendable {
  // Has no state of its own.

  /// The address of the instance, if it is published and nothing needs a closer look.
  ///
  /// This is sound because a published instance is never freed before the node, whatever is
  /// registered, reset or overridden meanwhile: `keptForReaders` holds it, and is set once. A
  /// reader that a change has overtaken copies the old instance.
  ///
  /// It writes nothing. The caller's copy writes the instance's reference count, if there is one,
  /// when it is made and when it is released, like a copy of a global constant: only there two
  /// threads take turns.
  // Inlinable, because a read through unspecialised generics takes several times as long: `make
  // bench`.
  @inlinable @inline(__always)
  var place: UnsafePointer<Dependency>? {
    guard unsafe activity.pointee.load(ordering: .relaxed) == 0,
      let pointer = unsafe published.load(ordering: .acquiring)
    else { return nil }
    return unsafe pointer.assumingMemoryBound(to: Dependency.self)
  }

  /// The dependency, if ``place`` is nil.
  @inlinable
  func value(
    _ parameters: ParameterBox?, _ location: InjectLocation
  ) throws(InjectError) -> Dependency {
    guard parameters == nil, let result = cached() else {
      return try resolve(parameters, location)
    }
    if let place = unsafe result.place {
      // The result belongs to this node, so it has the node's type.
      return unsafe place.assumingMemoryBound(to: Dependency.self).pointee
    }
    let fresh = unsafe unsafeDowncast(result, to: Fresh<Dependency>.self)
    do {
      return try fresh.make()
    } catch {
      throw failure(error, fresh, location)
    }
  }

  @usableFromInline @inline(never)
  func failure(
    _ error: any Error, _ fresh: Fresh<Dependency>, _ location: InjectLocation
  ) -> InjectError {
    fresh.failure(error, subject(location))
  }

  /// The requested dependency, for messages.
  func subject(_ location: InjectLocation?) -> InjectError.Subject {
    InjectError.Subject(
      dependency: name(of: Dependency.self), qualifiers: qualifiers.map(\.name),
      group: key.entry.group, location: location)
  }

  /// Searches.
  @usableFromInline @inline(never)
  func resolve(
    _ parameters: ParameterBox?, _ location: InjectLocation?, allowsLive: Bool = false
  ) throws(InjectError) -> Dependency {
    let layer = Layer.innermost(of: storage)
    return try Resolution(
      self, storage, layer, .current, parameters, location, allowsLive: allowsLive
    ).run()
  }

  /// Searches, where builders may be async.
  func resolveAsync(
    _ parameters: ParameterBox?, _ location: InjectLocation?
  ) async throws(InjectError) -> Dependency {
    if parameters == nil, let place = unsafe place { return unsafe place.pointee }
    let layer = Layer.innermost(of: storage)
    return try await Resolution(self, storage, layer, .ofTask, parameters, location).runAsync()
  }

  /// All that matches.
  func resolveAll(_ location: InjectLocation?) throws(InjectError) -> [Dependency] {
    let layer = Layer.innermost(of: storage)
    return try Resolution(self, storage, layer, .current, nil, location).runAll()
  }

  /// All that matches, where builders may be async.
  func resolveAllAsync(_ location: InjectLocation?) async throws(InjectError) -> [Dependency] {
    let layer = Layer.innermost(of: storage)
    return try await Resolution(self, storage, layer, .ofTask, nil, location).runAllAsync()
  }

  override var type: any Any.Type { Dependency.self }

  override func isOfType(_ instance: Any) -> Bool { instance is Dependency }

  override func check(_ location: InjectLocation?) throws(InjectError) {
    guard parameters == nil else { return }
    _ = try resolve(nil, location)
  }

  override func checkAsync(_ location: InjectLocation?) async throws(InjectError) {
    guard parameters == nil else { return }
    _ = try await resolveAsync(nil, location)
  }
}
