import CLibFuzzer
import Foundation

/// Runs libFuzzer over one kind of input, or writes the inputs that it starts from.
@main
enum Main {
  private static let usage = """
    usage: fuzz targets                       list the targets
           fuzz seeds TARGET FOLDER           write a target's seeds
           fuzz run TARGET [ARGUMENT...]      run libFuzzer, or inputs that it has found
    """

  // What libFuzzer calls takes no context; set once, before it is called.
  nonisolated(unsafe) private static var run: (([UInt8]) throws -> Void)?

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
    for (index, seed) in try target.seeds().enumerated() {
      try Data(seed).write(to: URL(fileURLWithPath: "\(folder)/seed-\(index)"))
    }
  }

  private static func fuzz(_ target: Target, _ arguments: [String]) throws -> Int32 {
    unsafe run = try target.make()
    var strings = unsafe (["fuzz"] + arguments).map { unsafe strdup($0) } + [nil]
    var count = Int32(strings.count - 1)
    return unsafe strings.withUnsafeMutableBufferPointer { strings in
      var start = strings.baseAddress
      return unsafe LLVMFuzzerRunDriver(&count, &start) { data, count in
        let input = unsafe [UInt8](UnsafeRawBufferPointer(start: data, count: count))
        // Whatever a target lets out is a finding: the errors that are right it takes itself.
        do { try unsafe Main.run!(input) } catch { finding("\(error)") }
        return 0
      }
    }
  }
}

/// Ends the run; libFuzzer keeps the input.
func finding(_ what: String) -> Never {
  FileHandle.standardError.write(Data("finding: \(what)\n".utf8))
  abort()
}
