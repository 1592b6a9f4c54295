private import Foundation

/// System calls of a program that fail, or before which it is killed, by strace's fault injection.
package struct SystemFault: Sendable, CustomStringConvertible {
  /// The calls, as strace takes them.
  package let calls: String
  /// What happens, as strace's `inject` takes it.
  private let effect: String
  /// The codes of the errors that a program may say then.
  private let codes: Set<String>

  package var description: String { "\(calls) \(effect)" }

  /// Calls that fail with an error.
  package init(_ calls: String, error: String, says codes: String...) {
    (self.calls, effect, self.codes) = (calls, "error=\(error)", Set(codes))
  }

  private init(_ calls: String, effect: String) {
    (self.calls, self.effect, codes) = (calls, effect, [])
  }

  /// A kill before each of the calls.
  package static func kill(before calls: String) -> SystemFault {
    SystemFault(calls, effect: "signal=KILL")
  }

  /// Calls that take longer.
  package static func delay(_ calls: String, microseconds: Int) -> SystemFault {
    SystemFault(calls, effect: "delay_enter=\(microseconds)")
  }

  /// The command that runs a program under the fault.
  ///
  /// - Parameters:
  ///   - number: which of the calls it is; nil for all of them.
  ///   - paths: the files that it is about; empty for all.
  ///   - log: where the calls are listed.
  /// - Returns: the command, which the program's own follows.
  package func prefix(
    at number: Int? = nil, of paths: [String] = [], log: String = "/dev/null"
  ) -> [String] {
    Self.tracing(calls, of: paths, log) + [
      "-e", "inject=\(calls):\(effect)" + (number.map { ":when=\($0)" } ?? ""),
    ]
  }

  private static func tracing(_ calls: String, of paths: [String], _ log: String) -> [String] {
    ["strace", "-f", "-y", "-qq", "-o", log] + paths.flatMap { ["-P", $0] }
      + ["-e", "trace=\(calls)"]
  }

  /// The calls that a program makes, in their order, with the paths of the files, and what it says.
  ///
  /// - Parameters:
  ///   - calls: which ones, as strace takes them.
  ///   - run: runs the program with the prefix that it gets.
  /// - Returns: what it says, and the calls.
  /// - Throws: what `run` throws, or what keeps the calls from being read.
  package static func list(
    _ calls: String, _ run: ([String]) throws -> [String]
  ) throws -> (said: [String], calls: [String]) {
    try withLog { log in
      let said = try run(tracing(calls, of: [], log.path))
      let lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n")
      return (said, lines.map(String.init))
    }
  }

  private static func withLog<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let log = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: log) }  // it may not be made yet
    return try body(log)
  }

  /// A run of a program in which one call failed, or the last, in which there was none left.
  package struct Run: CustomStringConvertible {
    /// What the program said: nothing where it was killed.
    package let said: String
    package let description: String
    /// Whether the call was there.
    package let isHit: Bool
    /// The number of the call.
    package let number: Int
    private let codes: Set<String>

    fileprivate init(_ fault: SystemFault, _ number: Int, _ said: String, isHit: Bool) {
      (self.said, self.number, self.isHit, codes) = (said, number, isHit, fault.codes)
      description = "\(fault), call \(number): \(said)"
    }

    /// Whether the program said that it did what it was to do.
    package var isDone: Bool { !said.isEmpty && !said.hasPrefix("error ") }
    /// Whether it may have done so: its own answer may be what could not be written.
    package var isUnknown: Bool { said.isEmpty || said == "error outcomeUnknown" }
    /// Whether the error that it said is one that the fault may be called.
    package var isNamed: Bool {
      isDone || said.isEmpty || codes.contains(String(said.dropFirst("error ".count)))
    }

    /// Whether a state is right: the new one if it was done, the old one if not.
    package func allows<State: Equatable>(_ state: State, old: State, new: State) -> Bool {
      isUnknown ? state == old || state == new : state == (isDone ? new : old)
    }
  }

  /// Has the first of the calls fail in a run of a program, in the next run the second, until there
  /// is none left; by day about every fifth.
  ///
  /// - Parameters:
  ///   - step: how far it is from one call to the next.
  ///   - paths: the files that it is about; empty for all.
  ///   - file: where the slice of a day comes from, with `line`.
  ///   - line: see `file`.
  ///   - run: makes the old state, and runs the program with the prefix that it gets.
  ///   - check: looks at what is left.
  /// - Returns: in how many runs the call was there, and in how many of those the program did not
  ///   say that it was done.
  /// - Throws: what `run` and `check` throw.
  @discardableResult
  package func each(
    every step: Int = 1, of paths: [String] = [], file: StaticString = #fileID, line: UInt = #line,
    run: ([String]) throws -> [String], check: (Run) throws -> Void
  ) throws -> (hits: Int, failures: Int) {
    var (number, hits, failures, strides) = (1, 0, 0, Depth.Strides(file: file, line: line))
    while true {
      let last = try Self.withLog { log in
        let said = try run(prefix(at: number, of: paths, log: log.path)).joined(separator: " ")
        let isKilled = effect.hasPrefix("signal") && said.isEmpty
        let isHit =
          try isKilled || String(contentsOf: log, encoding: .utf8).contains("(INJECTED)")
        return Run(self, number, said, isHit: isHit)
      }
      try check(last)
      if !last.isDone { failures += 1 }
      guard last.isHit else { return (hits, failures) }
      hits += 1
      number += strides.next(step)
    }
  }
}
