internal import Glibc
internal import Synchronization

/// A builder that runs on a thread; it lies on the thread's stack, so that building costs no
/// allocation.
@safe @usableFromInline
struct Frame {
  let parent: UnsafeMutablePointer<Frame>?
  /// The async builder that called, if there is no parent.
  let task: AsyncFrame?
  // The code that runs the builder keeps it alive.
  unowned(unsafe) let registration: AnyRegistration
  let build: Build?
  /// The instances of the tree whose root this is.
  var graph: Graph?

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let result = unsafe pthread_key_create(&key, nil)
    precondition(result == 0, "pthread_key_create failed")
    return key
  }()

  /// The innermost builder that runs on this thread.
  @usableFromInline static var top: UnsafeMutablePointer<Frame>? {
    get { unsafe pthread_getspecific(key)?.assumingMemoryBound(to: Frame.self) }
    set { unsafe pthread_setspecific(key, newValue) }
  }

  /// Runs `body` as the builder of a registration.
  static func run<Result, Failure: Error>(
    _ registration: AnyRegistration, _ build: Build?, _ graph: Graph? = nil, in chain: Chain,
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let parent = unsafe chain.top
    var frame = unsafe Frame(
      parent: parent, task: chain.task, registration: registration, build: build, graph: graph)
    return try unsafe withUnsafeMutablePointer(to: &frame) { (pointer) throws(Failure) -> Result in
      unsafe top = pointer
      defer { unsafe top = parent }
      return try body()
    }
  }
}

/// An async builder that runs, known to its task and to the tasks that it starts.
@usableFromInline
final class AsyncFrame: @unchecked Sendable {
  // All properties are constants and atomics, except `ownGraph`, which `lock` guards.
  @TaskLocal static var current: AsyncFrame?
  /// How many async builders run: if none does, nobody has to look at the task.
  private static let running = Atomic<Int>(0)

  let parent: AsyncFrame?
  let registration: AnyRegistration
  let build: Build?
  private let task = AsyncFrame.currentTask
  private let isDone = Atomic<Bool>(false)
  private let lock = InjectLock()
  // Guarded by `lock`.
  private var ownGraph: Graph?

  private init(
    _ registration: AnyRegistration, _ build: Build?, _ graph: Graph?, _ parent: AsyncFrame?
  ) {
    ownGraph = graph
    self.registration = registration
    self.build = build
    self.parent = parent
  }

  /// The innermost async builder that runs around the caller.
  static var innermost: AsyncFrame? {
    guard running.load(ordering: .relaxed) > 0 else { return nil }
    // A task may outlive the builder that started it.
    var frame = current
    while let done = frame, done.isDone.load(ordering: .acquiring) { frame = done.parent }
    return frame
  }

  /// Whether the caller is the task that runs the builder, and not a task that was started in it.
  var isOfCurrentTask: Bool { task != nil && task == AsyncFrame.currentTask }

  private static var currentTask: Int? {
    unsafe withUnsafeCurrentTask { task in unsafe task?.hashValue }
  }

  /// Runs `body` as the builder of a registration.
  static func run<Result>(
    _ registration: AnyRegistration, _ build: Build?, _ graph: Graph?,
    _ body: () async throws -> Result
  ) async throws -> Result {
    let frame = AsyncFrame(registration, build, graph, innermost)
    running.add(1, ordering: .relaxed)
    defer {
      frame.isDone.store(true, ordering: .releasing)
      running.subtract(1, ordering: .relaxed)
    }
    return try await $current.withValue(frame, operation: body)
  }

  /// The instances of the tree whose root this is.
  var graph: Graph {
    lock.withLock {
      let graph = ownGraph ?? Graph()
      ownGraph = graph
      return graph
    }
  }
}

/// The instances that one outermost resolution has built in the graph scope.
@usableFromInline
final class Graph: @unchecked Sendable {
  private let lock = InjectLock()
  // Guarded by `lock`.
  private var slots: [ObjectIdentifier: AnySlot] = [:]

  func slot<Dependency>(for registration: Registration<Dependency>) -> Slot<Dependency> {
    lock.withLock {
      if let slot = slots[ObjectIdentifier(registration)] {
        return unsafe unsafeDowncast(slot, to: Slot<Dependency>.self)
      }
      let slot = Slot(registration, .graph)
      slots[ObjectIdentifier(registration)] = slot
      return slot
    }
  }
}

/// The builders that run around the caller, valid during one call.
@safe struct Chain {
  let top: UnsafeMutablePointer<Frame>?
  let task: AsyncFrame?

  /// The chain of code that can't suspend.
  static var current: Chain {
    if let top = unsafe Frame.top { return unsafe Chain(top: top, task: nil) }
    return unsafe Chain(top: nil, task: AsyncFrame.innermost)
  }

  /// The chain of code that may suspend: a builder on the thread's stack can't wait for such code.
  static var ofTask: Chain { unsafe Chain(top: nil, task: AsyncFrame.innermost) }

  var isEmpty: Bool { unsafe top == nil && task == nil }

  /// All builders, outermost first.
  var steps: [Step] {
    var steps: [Step] = []
    var frame = unsafe top
    var task = task
    while let current = unsafe frame {
      steps.append(
        unsafe Step(
          registration: current.pointee.registration, build: current.pointee.build,
          isCertain: true))
      task = unsafe current.pointee.task
      unsafe frame = current.pointee.parent
    }
    while let current = task {
      let step = Step(
        registration: current.registration, build: current.build,
        isCertain: current.isOfCurrentTask)
      steps.append(step)
      task = current.parent
    }
    return steps.reversed()
  }

  /// The innermost builder whose instance is kept.
  var innermostBuild: Build? {
    var frame = unsafe top
    var task = task
    while let current = unsafe frame {
      if let build = unsafe current.pointee.build { return build }
      task = unsafe current.pointee.task
      unsafe frame = current.pointee.parent
    }
    while let current = task {
      if let build = current.build { return build }
      task = current.parent
    }
    return nil
  }

  /// The instances of the tree that is being built.
  var graph: Graph {
    var frame = unsafe top
    var task = task
    while let current = unsafe frame {
      task = unsafe current.pointee.task
      guard let parent = unsafe current.pointee.parent else {
        if task != nil { break }
        let graph = unsafe current.pointee.graph ?? Graph()
        unsafe current.pointee.graph = graph
        return graph
      }
      unsafe frame = parent
    }
    while let parent = task?.parent { task = parent }
    return task?.graph ?? Graph()
  }
}

// A frame points into the stack of its thread.
@available(*, unavailable)
extension Frame: Sendable {}
