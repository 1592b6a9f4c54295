internal import Foundation

/// A point in time by which something has to happen.
struct Deadline: Sendable {
  private let end: ContinuousClock.Instant

  init(_ duration: Duration) { end = .now + duration }

  var isOver: Bool { ContinuousClock.now >= end }

  /// Whether `condition` comes true in time; it is tried at least once.
  func holds<Failure: Error>(_ condition: () throws(Failure) -> Bool) throws(Failure) -> Bool {
    while true {
      if try condition() { return true }
      if isOver { return false }
      // Ask again and again: nothing signals when another process is done.
      usleep(2_000)
    }
  }
}
