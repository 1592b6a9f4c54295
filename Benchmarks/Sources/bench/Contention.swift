import Foundation
import SingletonBackend

/// Several threads on one key.
enum Contention {
  struct Line {
    let name: String
    /// Nanoseconds of wall time for one call of one thread, all threads together.
    let nanoseconds: Double

    var line: String { "\(padded(name, 40)) \(shown(nanoseconds, 0, width: 8)) ns a call overall" }
  }

  private static let rounds = 200_000

  static func measure() -> [Line] {
    let session = Wrappers.Session()
    let token = String(repeating: "t", count: 32)
    session.token = token
    let durable = Line(
      name: "1 thread writes @UserDefault, durably",
      nanoseconds: time(1, calls: 20) { for _ in 0..<20 { session.kept = token } })
    return [durable]
      + [1, 2, 8].flatMap { threads in
        [
          Line(
            name: "\(threads) thread\(threads == 1 ? " reads" : "s read") one @Singleton",
            nanoseconds: time(threads) { for _ in 0..<rounds / threads { keep(session.token) } }),
          Line(
            name: "\(threads) thread\(threads == 1 ? " writes" : "s write") one @Singleton",
            nanoseconds: time(threads) { for _ in 0..<rounds / threads { session.token = token } }),
        ]
      }
  }

  /// The median of nine runs.
  private static func time(
    _ threads: Int, calls: Int = rounds, _ body: @escaping @Sendable () -> Void
  ) -> Double {
    var times: [Double] = []
    for _ in 0..<9 {
      let group = DispatchGroup()
      let start = Clock.wall.nanoseconds
      for _ in 0..<threads {
        group.enter()
        Thread.detachNewThread {
          body()
          group.leave()
        }
      }
      group.wait()
      times.append((Clock.wall.nanoseconds - start) / Double(calls))
    }
    return times.median
  }
}
