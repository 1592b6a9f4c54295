import Glibc

/// Measures the hot calls of the library against the least that they could cost.
@main
struct Bench {
  static func main() throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if try Helper.run(arguments) { return }
    let options = Options(arguments)
    try Allocations.selfTest()
    var results: [Result] = []
    for comparison in try Sealing.comparisons() + Wrappers.comparisons()
      + VaultCalls.comparisons()
    {
      guard options.isChosen(comparison.name) else { continue }
      var result = try Result(of: comparison, pairs: options.pairs)
      if options.checks, !result.isOnTarget {
        // What else runs on the machine can spoil one measurement; hardly two.
        let again = try Result(of: comparison, pairs: options.pairs * 2)
        if again.ratio < result.ratio { result = again }
      }
      print(result.line)
      results.append(result)
    }
    let threads = options.isChosen("threads") ? Contention.measure() : []
    for line in threads { print(line.line) }
    if let path = options.report {
      try Report(results: results, threads: threads, pairs: options.pairs).write(to: path)
    }
    let missed = results.filter { !$0.isOnTarget }
    for result in missed { print("missed: \(result.comparison.name)") }
    if options.checks, !missed.isEmpty { exit(1) }
  }
}
