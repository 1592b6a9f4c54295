import CLibFuzzer
import Foundation

/// Runs libFuzzer over one kind of input, or writes the inputs that it starts from.
@main
enum Main {
  private static let usage = """
    usage: fuzz targets                       list the targets
           fuzz seeds TARGET FOLDER           write a target's seeds
           fuzz run TARGET [ARGUMENT...]      run libFuzzer, or inputs that it has found; each is
                                              kept in the file FUZZ_LAST, if set, while it is tried
    """

  // What libFuzzer calls takes no context; set once, before it is called.
  nonisolated(unsafe) private static var run: (([UInt8]) throws -> Void)?
  // Used by one thread: libFuzzer's.
  nonisolated(unsafe) private static var inputCount = 0
  private static let last = ProcessInfo.processInfo.environment["FUZZ_LAST"]

  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    switch (arguments.first, arguments.count) {
    case ("targets", 1):
      for target in Target.all { print(target.name) }
    case ("seeds", 3):
      try writeSeeds(of: target(arguments), to: arguments[arguments.startIndex + 2])
    case ("run", 2...):
      exit(try fuzz(target(arguments), Array(arguments.dropFirst(2))))
    default:
      FileHandle.standardError.write(Data((usage + "\n").utf8))
      exit(64)
    }
  }

  private static func target(_ arguments: ArraySlice<String>) -> Target {
    let name = arguments[arguments.startIndex + 1]
    guard let target = Target.all.first(where: { $0.name == name }) else {
      FileHandle.standardError.write(Data("fuzz: there is no target \(name)\n".utf8))
      exit(64)
    }
    return target
  }

  private static func writeSeeds(of target: Target, to folder: String) throws {
    for (index, seed) in try (target.seeds() + target.corpus()).enumerated() {
      try Data(seed).write(to: URL(fileURLWithPath: "\(folder)/seed-\(index)"))
    }
  }

  private static func fuzz(_ target: Target, _ arguments: [String]) throws -> Int32 {
    unsafe run = try target.make()
    // libFuzzer does not come back: it exits.
    _ = atexit { print("fuzz: \(unsafe Main.inputCount) inputs") }
    // What comes later counts. To look for leaks, it would try most inputs twice.
    let all =
      [
        "fuzz", "-max_len=\(target.longest)", "-timeout=60", "-rss_limit_mb=2048",
        "-detect_leaks=0",
      ]
      + arguments
    var strings = unsafe all.map { unsafe strdup($0) } + [nil]
    var count = Int32(all.count)
    return unsafe strings.withUnsafeMutableBufferPointer { strings in
      var start = strings.baseAddress
      return unsafe LLVMFuzzerRunDriver(&count, &start) { data, count in
        let input = unsafe [UInt8](UnsafeRawBufferPointer(start: data, count: count))
        Main.handOver(input)
        for neighbour in Neighbours(of: input) { Main.handOver(neighbour) }
        return 0
      }
    }
  }

  private static func handOver(_ input: [UInt8]) {
    unsafe inputCount += 1
    // Whatever a target lets out is a finding: the errors that are right it takes itself.
    do {
      if let last { try Data(input).write(to: URL(fileURLWithPath: last)) }
      try unsafe run!(input)
    } catch {
      finding("\(error)")
    }
  }
}
