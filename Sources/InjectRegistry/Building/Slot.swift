/// Where an instance is kept, of whatever type.
class AnySlot: @unchecked Sendable {
  // Has no state.

  /// The instance, if there is one.
  var anyInstance: Any? { nil }
}

/// Where the instance of a registration is kept, and built exactly once.
final class Slot<Dependency: Sendable>: AnySlot, @unchecked Sendable {
  // Constants, but for the state, which `lock` guards.
  private enum State {
    case idle
    case building(Build)
    case kept(Dependency)
    case weak(WeakReference)
  }

  private struct WeakReference {
    weak var object: AnyObject?
  }

  /// What somebody finds who wants the instance.
  enum Entry {
    case instance(Dependency)
    /// Nobody builds it: the caller does, and has to end the build.
    case mine(Build)
    case wait(Wait)
    case cycle([AnyRegistration])
    /// It is built by an async builder, and the caller can't await it.
    case asyncBuild
  }

  let registration: Registration<Dependency>
  private let isWeak: Bool
  private let lock = InjectLock()
  // What follows is guarded by `lock`; it begins and ends to be built under `Builds.lock` as well.
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

  /// What the builder of the instance asked for.
  var dependencies: Set<ObjectIdentifier> { lock.withLock { builtFrom } }

  /// The instance, or the right to build it, or to wait.
  ///
  /// - Parameters:
  ///   - steps: the builders that run around the caller.
  ///   - layerDepth: how deep the innermost layer is around the caller.
  ///   - canSuspend: whether the caller can await an async builder.
  /// - Returns: what the caller found.
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
  /// - Returns: the instance that is kept: another one, if that was adopted meanwhile.
  func finish(_ build: Build, with instance: Dependency) -> Dependency {
    var kept = instance
    Builds.finish(build) { kept = keep(instance, build) }
    return kept
  }

  /// Ends a build of the caller's without an instance for this slot.
  ///
  /// - Parameters:
  ///   - build: the build.
  ///   - failure: what those that wait are told; nil where they look again.
  func abandon(_ build: Build, failure: InjectError? = nil) {
    Builds.finish(build, failure: failure) {
      lock.withLock { if case .building = state { state = .idle } }
    }
  }

  /// Keeps an instance that was built for another slot, unless there is one.
  ///
  /// - Returns: the instance that is kept. Who builds here at the moment finds it, and gives up its
  ///   own.
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
