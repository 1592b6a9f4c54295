/// What the processes of a fleet said that they did; see ``FleetProgram``.
package struct FleetHistory {
  package private(set) var registers: [String: RegisterHistory] = [:]
  package private(set) var (acknowledged, refused, unknown) = (0, 0, 0)

  package init() {}

  /// Takes in what one process said.
  package mutating func add(_ lines: [String]) {
    var begun: [String: [String]] = [:]
    for line in lines {
      let words = line.split(separator: " ").map(String.init)
      if words[0] == "begin", words.count >= 7 {
        begun[words[1]] = words
      } else if words[0] == "end", let call = begun.removeValue(forKey: words[1]) {
        let result = words.dropFirst(3).joined(separator: " ")
        record(call, end: UInt64(words[2])!, result)
      }
    }
    // The process was killed before the end.
    for call in begun.values { record(call, end: nil, "error outcomeUnknown") }
  }

  private mutating func record(_ call: [String], end: UInt64?, _ result: String) {
    let begin = UInt64(call[2])!
    let operation: RegisterHistory.Operation
    switch call[3] {
    case "save": operation = .write(call[5])
    case "remove": operation = .write(nil)
    case "swap" where result.hasPrefix("found "):
      let seen = String(result.dropFirst(6))
      operation = .read(seen == "nil" ? nil : seen)
    case "swap": operation = .swap(from: call[6] == "nil" ? nil : call[6], to: call[5])
    default: operation = .read(result == "nil" ? nil : result)
    }
    if result == "error outcomeUnknown" {
      unknown += 1
      registers[call[4], default: RegisterHistory()].calls.append(
        .init(operation: operation, begin: begin, end: nil))
    } else if result.hasPrefix("error") {
      refused += 1  // nothing was done
    } else {
      acknowledged += 1
      registers[call[4], default: RegisterHistory()].calls.append(
        .init(operation: operation, begin: begin, end: end))
    }
  }
}
