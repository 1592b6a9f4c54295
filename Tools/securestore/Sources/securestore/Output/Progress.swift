internal import Foundation
internal import Glibc

/// How far long work is: one line on a terminal that is written over, nothing elsewhere.
///
/// It shows a bar once the work has said how far it is, and after a second, whether it has or not, for
/// how long it has been going on.
final class Progress: @unchecked Sendable {
  // The state is protected by the condition, which is waited on by a thread of its own.
  private static let width = 30
  /// How long the same line stays: nobody reads faster, and a terminal takes its time.
  private static let pause = 0.05

  private let title: String
  private let start = ContinuousClock.now
  private let condition = NSCondition()
  private var count: (done: Int, total: Int)?
  private var written: ContinuousClock.Instant?
  private var hasEnded = false

  private init(_ title: String) { self.title = title }

  /// Runs `body`, which asks for nothing on the terminal, with a closure that shows `done` of
  /// `total`, and ends the line.
  static func showing<Result>(
    _ title: String, _ output: Output, _ body: (@escaping (Int, Int) -> Void) throws -> Result
  ) rethrows -> Result {
    guard Output.isErrorTerminal && !output.isJSON && !output.isQuiet else {
      return try body { _, _ in }
    }
    let progress = Progress(title)
    Thread.detachNewThread { progress.tick() }
    defer { progress.end() }
    return try body { done, total in progress.show(done, of: total) }
  }

  private func show(_ done: Int, of total: Int) {
    condition.withLock {
      guard total > 0 else { return }
      count = (done, total)
      if let written, written.duration(to: .now) < .seconds(Self.pause) { return }
      write()
    }
  }

  /// Writes the line anew every second.
  private func tick() {
    condition.withLock {
      var next = Date(timeIntervalSinceNow: 1)
      while !hasEnded {
        // It may also wake for nothing: pthread_cond_timedwait(3). And after the time, the end may come
        // before the lock.
        if condition.wait(until: next) || hasEnded { continue }
        // From now on, since the clock may have been set.
        next = Date(timeIntervalSinceNow: 1)
        write()
      }
    }
  }

  private func end() {
    condition.withLock {
      hasEnded = true
      condition.signal()
      guard written != nil || count != nil else { return }
      if count != nil { write(hasTime: false) }
      put("\n")
    }
  }

  /// To be called under the lock.
  private func write(hasTime: Bool = true) {
    written = .now
    var line = "\r" + title
    if let (done, total) = count {
      let share = min(1, Double(done) / Double(total))
      let filled = Int(share * Double(Self.width))
      let empty = String(repeating: ".", count: Self.width - filled)
      line += " [\(String(repeating: "#", count: filled))\(empty)]"
      line += " \(Int(share * 100))% (\(done) of \(total))"
    }
    let seconds = start.duration(to: .now).components.seconds
    if hasTime, seconds > 0 { line += ", \(seconds) s" }
    put(line + "\u{1B}[K")
  }

  private func put(_ text: String) {
    // Only a sign of life: where it can't be shown, the work goes on.
    do { try Output.write(text, to: STDERR_FILENO) } catch {}
  }
}
