import KeyringTesting
import TestSupport

/// The real client of the distribution, in a process of its own.
struct SecretTool {
  /// What it said and how it ended.
  struct Outcome: Equatable {
    var lines: [String]
    /// 0 for success, 1 for a failure or for nothing found, 137 when it did not end in time.
    var status: Int32
  }

  private let environment: [String: String]

  init(_ bus: PrivateBus) { environment = bus.environment }

  private func run(_ arguments: [String], input: String = "") throws -> Outcome {
    // Not SIGTERM, which children of a dispatch thread find blocked.
    let script = """
      printf %s "$INPUT" | timeout -s KILL 120 secret-tool "$@" 2>&1
      printf '\\n%s\\n' "$?"
      """
    var lines = try Child.run(
      ["bash", "-o", "pipefail", "-c", script, "bash"] + arguments,
      environment: environment.merging(["INPUT": input]) { $1 }.mapValues { $0 })
    let status = Int32(lines.removeLast())!
    return Outcome(lines: lines, status: status)
  }

  func store(_ secret: String, _ attributes: String...) throws -> Outcome {
    try run(["store", "--label=a label"] + attributes, input: secret)
  }

  func lookup(_ attributes: String...) throws -> Outcome { try run(["lookup"] + attributes) }

  func clear(_ attributes: String...) throws -> Outcome { try run(["clear"] + attributes) }

  func search(_ attributes: String...) throws -> Outcome {
    try run(["search", "--all"] + attributes)
  }
}
