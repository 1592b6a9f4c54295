/// A number with a limit that is not a ratio of two calls.
struct Figure {
  let name: String
  let value: Double
  let unit: String
  /// The most that it may be; nil for a figure that stands beside another.
  let limit: Double?
  /// The least that it may be, or nil.
  var least: Double?
  /// How long the call took, where the plot of the peers shows it.
  var nanoseconds: Double?

  var isOnTarget: Bool { limit.map { value <= $0 } ?? true && least.map { value >= $0 } ?? true }

  /// The target, for the report.
  var target: String {
    (limit.map { ", target ≤ \(shown($0, 1))" } ?? "")
      + (least.map { ", target ≥ \(shown($0, 1))" } ?? "")
  }

  /// One line for the terminal.
  var line: String {
    padded(name, 43) + shown(value, 2, width: 8) + " \(unit)"
      + ((limit ?? least).map { "  target \(shown($0, 2)) " + (isOnTarget ? "met" : "MISSED") }
        ?? "")
  }
}
