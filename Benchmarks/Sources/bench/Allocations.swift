import CAllocations

/// Counts what this thread asks of the allocator.
enum Allocations {
  /// How many blocks `body` asks for.
  static func count(_ body: () throws -> Void) rethrows -> Int {
    let before = allocations_of_thread()
    try body()
    return Int(allocations_of_thread() - before)
  }

  struct NotCounted: Error { let made: Int }

  /// A counter that is bypassed would show zeroes and look splendid.
  static func selfTest() throws {
    // The first array makes the runtime's description of its type, too.
    var arrays = [bytes(1)]
    arrays.reserveCapacity(9)
    let made = count {
      for size in 1...8 { arrays.append(bytes(size * 100)) }
    }
    guard made == 8, arrays.count == 9 else { throw NotCounted(made: made) }
  }

  /// The optimizer would leave out arrays that nobody reads.
  @inline(never)
  private static func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
}
