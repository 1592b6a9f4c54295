/// One run of a builder whose instance is kept, and for which others wait meanwhile.
@usableFromInline
final class Build: @unchecked Sendable {
  // Constants, but for what `Builds.lock` and `lock` guard, as said below.
  let registration: AnyRegistration
  let isAsync: Bool
  let condition = InjectCondition()
  // The next four are guarded by `Builds.lock`.
  var isDone = false
  /// Those inside its builder that wait for another build.
  var waits: [ObjectIdentifier: Wait] = [:]
  /// What those that wait are told; nil where they look again.
  var failure: InjectError?
  var waiters: [AsyncWaiter] = []

  // What follows is guarded by `lock`; child tasks of an async builder add to it.
  private let lock = InjectLock()
  private var asked: Set<ObjectIdentifier> = []
  private var innermost = 0
  private let layerDepth: Int
  /// The builders that run around it.
  let around: [AnyRegistration]

  /// - Parameters:
  ///   - registration: whose builder runs.
  ///   - layerDepth: how deep the innermost layer is around it. What lies further in is the builder's
  ///     own, and the same for everybody.
  ///   - around: the builders that run around it.
  init(_ registration: AnyRegistration, _ layerDepth: Int, around: [AnyRegistration]) {
    self.around = around
    self.registration = registration
    self.layerDepth = layerDepth
    isAsync = registration.isAsync
  }

  /// Remembers that the builder asked for a type.
  ///
  /// - Parameters:
  ///   - types: the type, and all that its own builder asked for.
  ///   - depth: how deep the layer is to which the answer belongs; 0 is the storage itself.
  func record(_ types: Set<ObjectIdentifier>, depth: Int) {
    lock.withLock {
      asked.formUnion(types)
      if depth <= layerDepth { innermost = max(innermost, depth) }
    }
  }

  /// All that the builder asked for.
  var dependencies: Set<ObjectIdentifier> { lock.withLock { asked } }

  /// The innermost layer that an answer belonged to.
  var depth: Int { lock.withLock { innermost } }
}

/// A builder that runs.
struct Step {
  let registration: AnyRegistration
  let build: Build?
  /// Whether the caller surely waits for it: a task that an async builder started may not be
  /// awaited.
  let isCertain: Bool
}

/// Somebody who waits for a build.
final class Wait: Sendable {
  let steps: [Step]
  let target: Build
  /// Set when it may be a cycle: what the path would be.
  let suspicion: [AnyRegistration]?

  init(_ steps: [Step], _ target: Build, suspicion: [AnyRegistration]?) {
    self.steps = steps
    self.target = target
    self.suspicion = suspicion
  }

  /// How long it lasts before something is said, or done.
  var patience: Duration {
    suspicion == nil ? InjectDiagnostics.patience : min(.seconds(1), InjectDiagnostics.patience)
  }

  /// The builders that run around the waiting one, and the one that it waits for.
  var builders: [AnyRegistration] { steps.map(\.registration) + [target.registration] }

  /// The same by name.
  var path: [String] { builders.map(\.name) }

  /// How the one came to run that is waited for, by name.
  var targetPath: [String] { (target.around + [target.registration]).map(\.name) }
}

/// Who waits for which build.
///
/// The lock is held for memory work, when a build begins or ends, or a wait does; never while a
/// builder runs. Who needs the lock of a slot as well takes this one first.
enum Builds {
  static let lock = InjectLock()

  /// What somebody finds who wants to wait for `target`; call under the lock.
  ///
  /// The search is complete because every wait is found here before it begins: of the waits that
  /// close a cycle, one is the last.
  static func wait(for target: Build, from steps: [Step]) -> WaitDecision {
    if let path = path(from: target, to: steps, isCertain: true) { return .cycle(path) }
    let wait = Wait(steps, target, suspicion: path(from: target, to: steps, isCertain: false))
    for step in steps { step.build?.waits[ObjectIdentifier(wait)] = wait }
    return .wait(wait)
  }

  /// Ends a wait; call under the lock.
  static func end(_ wait: Wait) {
    for step in wait.steps { step.build?.waits[ObjectIdentifier(wait)] = nil }
  }

  /// A build that the one who asks would wait for: as the target, or because another one waits.
  private struct Reached {
    let build: Build
    /// Where the other one is among those that were reached; nil for the target.
    var origin: Int?
    /// The builders from the other one to the wait.
    var steps: ArraySlice<Step> = []
  }

  /// A way on which the one who runs `steps` would wait for itself if it waited for `target`; nil
  /// when there is none, or none that is certain.
  ///
  /// Each build is visited once: there may be more ways than could ever be walked.
  private static func path(
    from target: Build, to steps: [Step], isCertain: Bool
  ) -> [AnyRegistration]? {
    // Nobody waits for one who builds nothing.
    guard !steps.isEmpty else { return nil }
    var reached = [Reached(build: target)]
    var seen: Set<ObjectIdentifier> = [ObjectIdentifier(target)]
    var next = 0
    while next < reached.count {
      let build = reached[next].build
      if let own = Self.steps(from: build, in: steps, isCertain: isCertain) {
        return cycle(own, reached, next)
      }
      for wait in build.waits.values {
        // One whose target has ended only has to wake up.
        guard !wait.target.isDone, !seen.contains(ObjectIdentifier(wait.target)),
          let between = Self.steps(from: build, in: wait.steps, isCertain: isCertain)
        else { continue }
        seen.insert(ObjectIdentifier(wait.target))
        reached.append(Reached(build: wait.target, origin: next, steps: between))
      }
      next += 1
    }
    return nil
  }

  /// The builders from the one of `build` inwards; nil when that is not among them, or has to be
  /// certain and is not.
  private static func steps(
    from build: Build, in steps: [Step], isCertain: Bool
  ) -> ArraySlice<Step>? {
    steps.firstIndex { $0.build === build && ($0.isCertain || !isCertain) }.map { steps[$0...] }
  }

  /// A cycle: `own` builders, then those on the way from the target to `last`, which is the first
  /// of `own`.
  private static func cycle(
    _ own: ArraySlice<Step>, _ reached: [Reached], _ last: Int
  ) -> [AnyRegistration] {
    var way: [ArraySlice<Step>] = []
    var current = reached[last]
    while let origin = current.origin {
      way.append(current.steps)
      current = reached[origin]
    }
    let steps = ([own] + way.reversed()).joined()
    return steps.map(\.registration) + [reached[last].build.registration]
  }

  /// Ends a build, and lets those go on that wait for it.
  ///
  /// - Parameters:
  ///   - build: what ends.
  ///   - failure: what they are told; nil where they look again.
  ///   - change: runs under the lock before that.
  static func finish(_ build: Build, failure: InjectError? = nil, _ change: () -> Void) {
    let waiters = lock.withLock {
      change()
      build.isDone = true
      build.failure = failure
      build.condition.wakeAll()
      defer { build.waiters = [] }
      return build.waiters
    }
    for waiter in waiters { waiter.resume() }
  }
}

/// Whether somebody may wait.
enum WaitDecision {
  case wait(Wait)
  case cycle([AnyRegistration])
}
