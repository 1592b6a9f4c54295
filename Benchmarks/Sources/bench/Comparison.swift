import Glibc

/// Two ways to do a thing, each a loop of a given number of rounds.
struct Comparison {
  /// What is measured.
  let name: String
  /// What it is measured against.
  let floorName: String
  /// The most that the ratio may be, or nil where it only informs.
  let target: Double?
  let floor: (Int) throws -> Void
  let ours: (Int) throws -> Void

  init(
    _ name: String, against floorName: String, target: Double? = nil,
    floor: @escaping (Int) throws -> Void, ours: @escaping (Int) throws -> Void
  ) {
    self.name = name
    self.floorName = floorName
    self.target = target
    self.floor = floor
    self.ours = ours
  }
}

/// What a comparison came to.
struct Result {
  let comparison: Comparison
  /// Nanoseconds a round, the median of all batches.
  let floor: Double
  let ours: Double
  /// The median of what each pair gives.
  let ratio: Double
  /// Blocks asked of the allocator in one round of ours.
  let allocations: Double

  var isOnTarget: Bool { comparison.target.map { ratio <= $0 } ?? true }

  private static let batch = 2e6  // nanoseconds

  /// Measures.
  ///
  /// Batches of both sides take turns, so that whatever else slows the machine slows both, and the
  /// ratio is taken of neighbours.
  init(of comparison: Comparison, pairs: Int) throws {
    self.comparison = comparison
    let floorRounds = try Self.rounds(of: comparison.floor)
    let ourRounds = try Self.rounds(of: comparison.ours)
    var floors: [Double] = []
    var ours: [Double] = []
    for pair in 0..<pairs {
      // Each goes first in every other pair.
      if pair.isMultiple(of: 2) {
        floors.append(try Self.time(comparison.floor, floorRounds))
        ours.append(try Self.time(comparison.ours, ourRounds))
      } else {
        ours.append(try Self.time(comparison.ours, ourRounds))
        floors.append(try Self.time(comparison.floor, floorRounds))
      }
    }
    ratio = zip(ours, floors).map { $0 / $1 }.median
    floor = floors.median
    self.ours = ours.median
    let counted = min(ourRounds, 1000)
    allocations =
      Double(try Allocations.count { try comparison.ours(counted) }) / Double(counted)
  }

  /// Nanoseconds of this thread's processor time that one round takes.
  private static func time(_ body: (Int) throws -> Void, _ rounds: Int) throws -> Double {
    let start = Clock.thread.nanoseconds
    try body(rounds)
    return (Clock.thread.nanoseconds - start) / Double(rounds)
  }

  /// How many rounds fill a batch; finding out is the warm-up.
  private static func rounds(of body: (Int) throws -> Void) throws -> Int {
    var rounds = 1
    while true {
      let taken = try time(body, rounds) * Double(rounds)
      if taken > batch / 4 { return max(1, Int(Double(rounds) * batch / taken)) }
      rounds *= 2
    }
  }
}

/// A clock of the system.
struct Clock {
  private let id: clockid_t

  /// Processor time of the calling thread: leaves out when others have the core.
  static let thread = Clock(id: CLOCK_THREAD_CPUTIME_ID)
  /// Time that passes.
  static let wall = Clock(id: CLOCK_MONOTONIC)

  var nanoseconds: Double {
    var time = timespec()
    unsafe clock_gettime(id, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }
}

extension [Double] {
  /// The middle value.
  var median: Double { sorted()[count / 2] }
}
