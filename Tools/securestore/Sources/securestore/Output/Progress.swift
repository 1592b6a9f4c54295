internal import Foundation
internal import Glibc

/// Shows the progress of long work: one line on a terminal, rewritten in place; nothing elsewhere.
///
/// The line has a bar as soon as the work reports its progress. After one second it also shows the
/// elapsed time.
final class Progress: @unchecked Sendable {
  // The condition protects the state; a thread of its own waits on the condition.
  private static let width = 30
  /// The shortest time between two rewrites, in seconds: nobody reads faster, and a terminal is
  /// slow.
  private static let pause = 0.05

  private let title: String
  private let start = ContinuousClock.now
  private let condition = NSCondition()
  private var count: (done: Int, total: Int)?
  private var written: ContinuousClock.Instant?
  private var hasEnded = false

  private init(_ title: String) { self.title = title }

  /// Runs `body` with a closure that shows `done` of `total`, and ends the line.
  ///
  /// `body` must not prompt on the terminal.
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

  /// Rewrites the line every second.
  private func tick() {
    condition.withLock {
      var next = Date(timeIntervalSinceNow: 1)
      while !hasEnded {
        // pthread_cond_timedwait(3) may wake early. After a timeout, `end` may also get the lock
        // first.
        if condition.wait(until: next) || hasEnded { continue }
        // Counts from now on, since the clock may have been set.
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

  /// Must be called under the lock.
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
    // The line is only a sign of life: if it can't be written, the work continues.
    do { try Output.write(text, to: STDERR_FILENO) } catch {}
  }
}
