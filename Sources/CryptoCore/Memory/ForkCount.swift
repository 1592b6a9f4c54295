internal import Synchronization

/// How often this process and those before it were forked, which tells a child from its parent.
///
/// What a process may use once, as the seals that it has set aside, a child must not use again.
/// Counted by the handler of pthread_atfork(3) in ``SecureMemory``, so from the first key on.
package final class ForkCount: Sendable {
  /// The one count of the process.
  package static let shared = ForkCount()

  private let count = Atomic<Int>(0)

  private init() {}

  /// The count now, for the price of one load.
  package var current: Int { count.load(ordering: .relaxed) }

  /// Called in the child, where there is one thread.
  func increase() { count.add(1, ordering: .relaxed) }
}
