private import Foundation

/// Threads of several processes that assign to one shared value and read it, at random.
///
/// Each value says who wrote it and which of its values it is. Of one writer's values nobody may
/// see an older one after a newer one, nor one that was not written.
package struct RandomAssignments: Sendable {
  /// The number of each writer's latest value is in a file: the others are processes, too.
  private final class Numbers: Sendable {
    let descriptor: Int32

    init(_ path: String) throws {
      descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw CocoaError(.fileNoSuchFile) }
    }

    deinit { close(descriptor) }

    subscript(writer: Int) -> Int {
      get {
        var number = 0
        return unsafe pread(descriptor, &number, 8, off_t(8 * writer)) == 8 ? number : 0
      }
      set {
        var number = newValue
        let count = unsafe pwrite(descriptor, &number, 8, off_t(8 * writer))
        precondition(count == 8, "the test's disk is full")
      }
    }
  }

  private let numbers: Numbers
  private let writers: Int

  /// Assignments by so many writers, which share a file.
  package init(_ file: String, writers: Int) throws {
    numbers = try Numbers(file)
    self.writers = writers
  }

  /// Assigns and reads as one of the writers.
  ///
  /// - Returns: what was seen that may not be, or nil.
  /// - Throws: what `assign` throws.
  package func run(
    _ writer: Int, for time: Duration, assign: (Int) throws -> Void, read: () -> Int
  ) rethrows -> String? {
    let end = ContinuousClock.now + time
    var seen = [Int](repeating: 0, count: writers)
    var number = 0
    while ContinuousClock.now < end {
      if Int.random(in: 0..<8) == 0 {
        number += 1
        // Said before it is written: nobody can have seen it before.
        numbers[writer] = number
        try assign(writer << 40 + number)
      }
      for _ in 0..<10 {
        let value = read()
        guard value != 0 else { continue }
        let (other, count) = (value >> 40, value & (1 << 40 - 1))
        guard seen.indices.contains(other), count <= seen[other] || count <= numbers[other] else {
          return "a value that nobody assigned: \(value)"
        }
        guard count >= seen[other] else {
          return "back from \(seen[other]) to \(count) of \(other)"
        }
        seen[other] = count
      }
    }
    return number > 0 ? nil : "nothing was assigned"
  }
}
