/// A number with a limit that is not a ratio of two calls.
struct Figure {
  let name: String
  let value: Double
  let unit: String
  let limit: Double

  var isOnTarget: Bool { value <= limit }

  /// One line for the terminal.
  var line: String {
    padded(name, 43) + shown(value, 2, width: 8) + " \(unit)  target \(shown(limit, 2)) "
      + (isOnTarget ? "met" : "MISSED")
  }
}
