internal import Glibc

/// How far long work is: one line on a terminal that is written over, nothing elsewhere.
struct Progress {
  private static let width = 30

  private let title: String
  private let isShown: Bool

  init(_ title: String, _ output: Output) {
    self.title = title
    isShown = Output.isErrorTerminal && !output.isJSON && !output.isQuiet
  }

  /// Runs `body` with a closure that shows `done` of `total`, and ends the line.
  static func showing<Result>(
    _ title: String, _ output: Output, _ body: (@escaping (Int, Int) -> Void) throws -> Result
  ) rethrows -> Result {
    let progress = Progress(title, output)
    defer { progress.end() }
    return try body { done, total in progress.show(done, of: total) }
  }

  private func show(_ done: Int, of total: Int) {
    guard isShown, total > 0 else { return }
    let share = min(1, Double(done) / Double(total))
    let filled = Int(share * Double(Self.width))
    let bar =
      String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
    write("\r\(title) [\(bar)] \(Int(share * 100))% (\(done) of \(total))\u{1B}[K")
  }

  private func end() {
    if isShown { write("\n") }
  }

  private func write(_ text: String) {
    // Only a sign of life: where it can't be shown, the work goes on.
    do { try Output.write(text, to: STDERR_FILENO) } catch {}
  }
}
