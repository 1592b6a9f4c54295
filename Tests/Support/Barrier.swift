private import Foundation

/// Where threads wait until it is opened.
package final class Barrier: @unchecked Sendable {
  // The condition's own lock guards both.
  private var count = 0
  private var isOpen = false
  private let condition = NSCondition()

  /// Creates a closed barrier.
  package init() {}

  /// How many threads have come.
  package var arrived: Int {
    condition.lock()
    defer { condition.unlock() }
    return count
  }

  /// Blocks the calling thread until the barrier is open.
  package func wait() {
    condition.lock()
    defer { condition.unlock() }
    count += 1
    while !isOpen { condition.wait() }
  }

  /// Lets all threads go, also those that come later.
  package func open() {
    condition.lock()
    defer { condition.unlock() }
    isOpen = true
    condition.broadcast()
  }
}
