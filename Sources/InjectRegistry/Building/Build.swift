/// One run of a builder whose instance is kept; others may wait for the run.
@usableFromInline
final class Build: @unchecked Sendable {
  // All properties are constants, except those that `Builds.lock` and `lock` guard, as said below.
  let registration: AnyRegistration
  let isAsync: Bool
  let condition = InjectCondition()
  // The next four are guarded by `Builds.lock`.
  var isDone = false
  /// Waits of code inside this builder for other builds.
  var waits: [ObjectIdentifier: Wait] = [:]
  /// The error for those that wait; nil if they should look again.
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
  ///   - registration: the registration whose builder runs.
  ///   - layerDepth: the depth of the innermost layer around the builder. Layers further in are the
  ///     builder's own, and the same for everybody.
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
  ///   - types: the type, and all types that its own builder asked for.
  ///   - depth: the depth of the layer that the answer belongs to; 0 is the storage itself.
  func record(_ types: Set<ObjectIdentifier>, depth: Int) {
    lock.withLock {
      asked.formUnion(types)
      if depth <= layerDepth { innermost = max(innermost, depth) }
    }
  }

  /// All types that the builder asked for.
  var dependencies: Set<ObjectIdentifier> { lock.withLock { asked } }

  /// The depth of the innermost layer that an answer belonged to.
  var depth: Int { lock.withLock { innermost } }
}

/// A running builder.
struct Step {
  let registration: AnyRegistration
  let build: Build?
  /// Whether the caller certainly waits for the builder: a task that an async builder started may
  /// not be awaited.
  let isCertain: Bool
}

/// A wait for a build.
final class Wait: Sendable {
  let steps: [Step]
  let target: Build

  init(_ steps: [Step], _ target: Build) {
    self.steps = steps
    self.target = target
  }

  /// The builders that run around the waiting one, and the one that it waits for, by name.
  var path: [String] { (steps.map(\.registration) + [target.registration]).map(\.name) }
}

/// Keeps track of which code waits for which build.
///
/// The lock is held for memory work, when a build or a wait begins or ends; never while a builder
/// runs. Code that also needs the lock of a slot takes this one first.
enum Builds {
  static let lock = InjectLock()

  /// Decides whether the caller may wait for `target`; call under the lock.
  ///
  /// The search is complete, since every wait is registered here before it begins: one wait of each
  /// cycle comes last and sees the others.
  static func wait(for target: Build, from steps: [Step]) -> WaitDecision {
    if let path = path(from: target, to: steps, isCertain: true) { return .cycle(path) }
    let wait = Wait(steps, target)
    for step in steps { step.build?.waits[ObjectIdentifier(wait)] = wait }
    return .wait(wait)
  }

  /// The path to name when a wait takes long.
  ///
  /// Where a task that an async builder started asks for what waits for the builder, it is the way
  /// round: a cycle, if the builder awaits the task.
  static func slowPath(of wait: Wait) -> [AnyRegistration] {
    lock.withLock { path(from: wait.target, to: wait.steps, isCertain: false) }
      ?? wait.target.around + [wait.target.registration]
  }

  /// Ends a wait; call under the lock.
  static func end(_ wait: Wait) {
    for step in wait.steps { step.build?.waits[ObjectIdentifier(wait)] = nil }
  }

  /// A build that the asker would wait for: the target, or one that another reached build waits
  /// for.
  private struct Reached {
    let build: Build
    /// The index of that other build among the reached ones; nil for the target.
    var origin: Int?
    /// The builders from the other build to its wait.
    var steps: ArraySlice<Step> = []
  }

  /// A path by which code that runs `steps` would wait for itself if it waited for `target`; nil
  /// when there is none, or no certain one if `isCertain`.
  ///
  /// Each build is visited once, since the number of paths may be huge.
  private static func path(
    from target: Build, to steps: [Step], isCertain: Bool
  ) -> [AnyRegistration]? {
    // Nobody waits for code that builds nothing.
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
        // A wait whose target has ended only has to wake up.
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

  /// The builders from the one of `build` inwards; nil when `build` is not among them, or is not
  /// certain as required.
  private static func steps(
    from build: Build, in steps: [Step], isCertain: Bool
  ) -> ArraySlice<Step>? {
    steps.firstIndex { $0.build === build && ($0.isCertain || !isCertain) }.map { steps[$0...] }
  }

  /// A cycle: the `own` builders, then those on the path from the target to `last`, which is the
  /// first of `own`.
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

  /// Ends a build, and wakes those that wait for it.
  ///
  /// - Parameters:
  ///   - build: the build that ends.
  ///   - failure: the error for those that wait; nil if they should look again.
  ///   - change: runs under the lock before they are woken.
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

/// The decision about a wait.
enum WaitDecision {
  case wait(Wait)
  case cycle([AnyRegistration])
}
