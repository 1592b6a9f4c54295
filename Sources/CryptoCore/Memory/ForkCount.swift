internal import Glibc
internal import Synchronization

/// Counts the forks between this process and its ancestors, to tell a child from its parent.
///
/// This is the one place that tells. A process number costs a system call, and can come again. The
/// child's handler of pthread_atfork(3) counts; it is there before the first use returns.
/// `_Fork(3)` and a bare clone(2) run no handlers, so their children are not told from their
/// parents.
package final class ForkCount: Sendable {
  /// The count of the process.
  package static let shared: ForkCount = {
    let shared = ForkCount()
    unsafe counted = .passUnretained(shared)
    let result = pthread_atfork(nil, nil) {
      unsafe ForkCount.counted!.takeUnretainedValue().increase()
    }
    precondition(result == 0, "pthread_atfork failed with errno \(result)")
    return shared
  }()

  // Unsafe, but correct without a lock: only the handler reads it, and it is set once, before the
  // handler is registered. Its first value is a constant, so using it takes no Swift lock either: a
  // child might wait for one that a vanished thread holds.
  nonisolated(unsafe) private static var counted: Unmanaged<ForkCount>? = nil

  private let count = Atomic<Int>(0)

  private init() {}

  /// The current count; costs one load.
  package var current: Int { count.load(ordering: .relaxed) }

  /// Adds one; called in the child, which has one thread.
  private func increase() { count.add(1, ordering: .relaxed) }
}

/// Remembers the process that made a value.
///
/// A child of fork(2) has a copy of the value. What the value stands for, such as a lock, a
/// temporary file or a key that seals one stream, is still the parent's: the child must not use it,
/// and must not clean it up.
package struct OwnProcess: Sendable {
  private let count = ForkCount.shared.current

  /// Remembers this process.
  package init() {}

  /// Whether this process made the value; false in every forked child.
  ///
  /// Costs a load.
  package var isCurrent: Bool { ForkCount.shared.current == count }
}
