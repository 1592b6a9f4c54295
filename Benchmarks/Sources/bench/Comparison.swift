import Glibc

/// Two ways to do a thing, each a loop of a given number of rounds.
struct Comparison {
  /// Which part of the report it is in.
  enum Part { case calls, vault, fleet, live, keyring, injection }

  let part: Part
  /// What is measured.
  let name: String
  /// What it is measured against.
  let floorName: String
  /// The most that the ratio may be, or nil where it only informs.
  let target: Double?
  /// The most nanoseconds that a round of ours may take, or nil.
  let limit: Double?
  /// The most that a round of ours may take longer than one of the floor, or nil.
  let limitAbove: Double?
  /// The most blocks that a round of ours may ask of the allocator, or nil.
  let allocationLimit: Double?
  /// Processor time, or wall time for what waits for the disk.
  let clock: Clock
  /// How many nanoseconds a batch takes.
  let batch: Double
  /// Makes what lives beside the measurement, as a process that writes.
  private(set) var company: (() throws -> AnyObject)?
  private(set) var floor: (Int) throws -> Void
  private(set) var ours: (Int) throws -> Void

  init(
    _ name: String, against floorName: String, in part: Part = .calls, target: Double? = nil,
    limit: Double? = nil, limitAbove: Double? = nil, allocationLimit: Double? = nil,
    clock: Clock = .thread, batch: Double = 2e6, company: (() throws -> AnyObject)? = nil,
    floor: @escaping (Int) throws -> Void, ours: @escaping (Int) throws -> Void
  ) {
    self.name = name
    self.part = part
    self.floorName = floorName
    self.target = target
    self.limit = limit
    self.limitAbove = limitAbove
    self.allocationLimit = allocationLimit
    self.clock = clock
    self.batch = batch
    self.company = company
    self.floor = floor
    self.ours = ours
  }

  /// What a report says of it, without the calls, which keep servers and stores alive.
  var withoutCalls: Comparison {
    var comparison = self
    (comparison.company, comparison.floor, comparison.ours) = (nil, { _ in }, { _ in })
    return comparison
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

  var isOnTarget: Bool {
    comparison.target.map { ratio <= $0 } ?? true
      && comparison.limit.map { ours <= $0 } ?? true
      && comparison.limitAbove.map { ours - floor <= $0 } ?? true
      && comparison.allocationLimit.map { allocations <= $0 } ?? true
  }

  /// What is asked of it, in words; nil where it only informs.
  var targets: String? {
    let all = [
      comparison.target.map { shown($0, 2) }, comparison.limit.map { shown($0, 0) + " ns" },
      comparison.limitAbove.map { "floor + " + shown($0, 0) + " ns" },
      comparison.allocationLimit.map { _ in "no allocation" },
    ]
    let said = all.compactMap { $0 }
    return said.isEmpty ? nil : said.joined(separator: ", ")
  }

  /// Measures.
  ///
  /// Batches of both sides take turns, so that whatever else slows the machine slows both, and the
  /// ratio is taken of neighbours.
  init(of comparison: Comparison, pairs: Int) throws {
    self.comparison = comparison.withoutCalls
    let company = try comparison.company?()
    defer { withExtendedLifetime(company) {} }
    func time(_ body: (Int) throws -> Void, _ rounds: Int) throws -> Double {
      try Self.time(body, rounds, comparison.clock)
    }
    let floorRounds = try Self.rounds(of: comparison.floor, comparison)
    let ourRounds = try Self.rounds(of: comparison.ours, comparison)
    var floors: [Double] = []
    var ours: [Double] = []
    for pair in 0..<pairs {
      // Each goes first in every other pair.
      if pair.isMultiple(of: 2) {
        floors.append(try time(comparison.floor, floorRounds))
        ours.append(try time(comparison.ours, ourRounds))
      } else {
        ours.append(try time(comparison.ours, ourRounds))
        floors.append(try time(comparison.floor, floorRounds))
      }
    }
    ratio = zip(ours, floors).map { $0 / $1 }.median
    floor = floors.median
    self.ours = ours.median
    let counted = min(ourRounds, 1000)
    allocations =
      Double(try Allocations.count { try comparison.ours(counted) }) / Double(counted)
  }

  /// Nanoseconds that one round takes.
  private static func time(
    _ body: (Int) throws -> Void, _ rounds: Int, _ clock: Clock
  ) throws -> Double {
    let start = clock.nanoseconds
    try body(rounds)
    return (clock.nanoseconds - start) / Double(rounds)
  }

  /// How many rounds fill a batch; finding out is the warm-up.
  private static func rounds(
    of body: (Int) throws -> Void, _ comparison: Comparison
  ) throws -> Int {
    let batch = comparison.batch
    var rounds = 1
    while true {
      // The fastest of three: one that had to wait would leave a batch with next to no rounds.
      var taken = Double.infinity
      for _ in 0..<3 {
        taken = min(taken, try time(body, rounds, comparison.clock) * Double(rounds))
      }
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
