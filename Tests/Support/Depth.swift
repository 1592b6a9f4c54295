private import Foundation

/// How deep tests go: by day a slice that a printed seed repeats, with SPS_DEPTH=full, as by night, all.
package enum Depth {
  /// Whether everything is tried.
  package static let isFull = variable("SPS_DEPTH") == "full"

  /// What chooses the slices of this run; SPS_SEED gives it.
  package static let seed: UInt64 = {
    let seed = variable("SPS_SEED").flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)
    if !isFull { print("depth: a slice of the long tests; SPS_SEED=\(seed) repeats it") }
    return seed
  }()

  private static func variable(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name]
  }

  /// How often something is done that is done `all` times by night.
  package static func count(_ all: Int, day: Int) -> Int { isFull ? all : day }

  /// All cases of a table, or by day so many of them, in their order.
  package static func cases<Case>(
    _ all: [Case], day: Int, file: StaticString = #fileID, line: UInt = #line
  ) -> [Case] {
    guard !isFull else { return all }
    var random = SeededRandom(seed(file, line))
    return all.indices.shuffled(using: &random).prefix(day).sorted().map { all[$0] }
  }

  /// All steps of a range, or by day about every fifth, with the first and the last.
  package static func steps(
    _ all: ClosedRange<Int>, file: StaticString = #fileID, line: UInt = #line
  ) -> [Int] {
    var (steps, strides) = ([Int](), Strides(file: file, line: line))
    var step = all.lowerBound
    while step < all.upperBound {
      steps.append(step)
      step += strides.next()
    }
    return steps + [all.upperBound]
  }

  /// FNV-1a, so that each place has a slice of its own.
  private static func seed(_ file: StaticString, _ line: UInt) -> UInt64 {
    "\(file):\(line)".utf8.reduce(seed ^ 0xcbf2_9ce4_8422_2325) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01b3
    }
  }

  /// How far it is from one step to the next; by day five times as far, on average.
  package struct Strides {
    private var random: SeededRandom

    package init(file: StaticString = #fileID, line: UInt = #line) {
      random = SeededRandom(isFull ? 0 : seed(file, line))
    }

    package mutating func next(_ step: Int = 1) -> Int {
      isFull ? step : step * Int.random(in: 1...9, using: &random)
    }
  }
}

/// SplitMix64: the same numbers for the same seed.
package struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64
  package init(_ seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    return value ^ value >> 31
  }
}
