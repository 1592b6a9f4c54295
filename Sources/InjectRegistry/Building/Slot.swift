/// A place for an instance of any type.
class AnySlot: @unchecked Sendable {
  // Has no state.

  /// The instance, if there is one.
  var anyInstance: Any? { nil }
}

/// The place of a registration's instance, which is built exactly once.
final class Slot<Dependency: Sendable>: AnySlot, @unchecked Sendable {
  // All properties are constants, except the state, which `lock` guards.
  private enum State {
    case idle
    case building(Build)
    case kept(Dependency)
    case weak(WeakReference)
  }

  private struct WeakReference {
    weak var object: AnyObject?
  }

  /// The result of asking for the instance.
  enum Entry {
    case instance(Dependency)
    /// Nobody builds the instance yet: the caller must build it, and must end the build.
    case mine(Build)
    case wait(Wait)
    case cycle([AnyRegistration])
    /// An async builder is building the instance, and the caller can't await it.
    case asyncBuild
  }

  let registration: Registration<Dependency>
  private let isWeak: Bool
  private let lock = InjectLock()
  // The following properties are guarded by `lock`; a build also begins and ends under
  // `Builds.lock`.
  private var state = State.idle
  private var builtFrom: Set<ObjectIdentifier> = []

  init(_ registration: Registration<Dependency>, _ scope: InjectScope) {
    self.registration = registration
    isWeak = scope == .weak
  }

  override var anyInstance: Any? { instance }

  /// The instance, if there is one.
  var instance: Dependency? {
    lock.withLock {
      switch state {
      case .kept(let instance): instance
      case .weak(let reference): reference.object.flatMap { $0 as? Dependency }
      case .idle, .building: nil
      }
    }
  }

  /// The types that the builder of the instance asked for.
  var dependencies: Set<ObjectIdentifier> { lock.withLock { builtFrom } }

  /// The instance, or the right to build it, or to wait.
  ///
  /// - Parameters:
  ///   - steps: the builders that run around the caller.
  ///   - layerDepth: the depth of the innermost layer around the caller.
  ///   - canSuspend: whether the caller can await an async builder.
  /// - Returns: the instance, or what the caller has to do.
  func enter(_ steps: [Step], _ layerDepth: Int, canSuspend: Bool) -> Entry {
    if let instance { return .instance(instance) }
    return Builds.lock.withLock {
      if let instance { return .instance(instance) }
      return lock.withLock {
        guard case .building(let build) = state else {
          let build = Build(registration, layerDepth, around: steps.map(\.registration))
          state = .building(build)
          return .mine(build)
        }
        switch Builds.wait(for: build, from: steps) {
        case .cycle(let path): return .cycle(path)
        case .wait(let wait):
          if canSuspend || !build.isAsync { return .wait(wait) }
          Builds.end(wait)
          return .asyncBuild
        }
      }
    }
  }

  /// Ends a build of the caller's with an instance.
  ///
  /// - Returns: the kept instance, which is another one if that was adopted meanwhile.
  func finish(_ build: Build, with instance: Dependency) -> Dependency {
    var kept = instance
    Builds.finish(build) { kept = keep(instance, build) }
    return kept
  }

  /// Ends a build of the caller's without an instance for this slot.
  ///
  /// - Parameters:
  ///   - build: the build.
  ///   - failure: the error for those that wait; nil if they should look again.
  func abandon(_ build: Build, failure: InjectError? = nil) {
    Builds.finish(build, failure: failure) {
      lock.withLock { if case .building = state { state = .idle } }
    }
  }

  /// Keeps an instance that was built for another slot, unless there is one.
  ///
  /// - Returns: the kept instance. A build in progress here finds it, and drops its own instance.
  func adopt(_ instance: Dependency, _ build: Build) -> Dependency {
    Builds.lock.withLock { keep(instance, build) }
  }

  private func keep(_ instance: Dependency, _ build: Build) -> Dependency {
    lock.withLock {
      switch state {
      case .kept(let kept): return kept
      case .weak(let reference):
        if let kept = reference.object as? Dependency { return kept }
      case .idle, .building: break
      }
      builtFrom = build.dependencies
      if isWeak {
        state = .weak(WeakReference(object: instance as AnyObject))
      } else {
        state = .kept(instance)
      }
      return instance
    }
  }
}
