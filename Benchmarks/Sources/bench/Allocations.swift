import CAllocations

/// Counts what this thread asks of the allocator.
enum Allocations {
  /// How many blocks `body` asks for.
  static func count(_ body: () throws -> Void) rethrows -> Int {
    let before = allocations_of_thread()
    try body()
    return Int(allocations_of_thread() - before)
  }

  struct NotCounted: Error {}

  /// A counter that is bypassed would show zeroes and look splendid.
  static func selfTest() throws {
    var arrays: [[UInt8]] = []
    arrays.reserveCapacity(8)
    let made = count {
      for size in 1...8 { arrays.append([UInt8](repeating: 0, count: size * 100)) }
    }
    guard made == 8, arrays.count == 8 else { throw NotCounted() }
  }
}
