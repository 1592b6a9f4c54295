internal import Synchronization

/// Counts the forks between this process and its ancestors, to tell a child from its parent.
///
/// A child must not use again what its parent may use only once, such as reserved seals. The handler of
/// pthread_atfork(3) in ``SecureMemory`` counts, so counting begins with the first key.
package final class ForkCount: Sendable {
  /// The count of the process.
  package static let shared = ForkCount()

  private let count = Atomic<Int>(0)

  private init() {}

  /// The current count; costs one load.
  package var current: Int { count.load(ordering: .relaxed) }

  /// Adds one; called in the child, which has one thread.
  func increase() { count.add(1, ordering: .relaxed) }
}
