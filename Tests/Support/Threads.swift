private import Foundation

/// Threads of the operating system, all running at once, however few cores there are.
package enum Threads {
  /// Runs `body` on `count` threads, and returns when all are done.
  ///
  /// - Parameters:
  ///   - count: how many threads.
  ///   - meanwhile: runs on the calling thread as soon as all threads have started.
  ///   - body: gets the number of its thread, from 0.
  package static func run(
    _ count: Int, meanwhile: () -> Void = {}, _ body: @escaping @Sendable (Int) -> Void
  ) {
    let started = DispatchSemaphore(value: 0)
    let go = DispatchSemaphore(value: 0)
    let done = DispatchGroup()
    for index in 0..<count {
      done.enter()
      Thread {
        started.signal()
        go.wait()
        body(index)
        done.leave()
      }.start()
    }
    for _ in 0..<count { started.wait() }
    for _ in 0..<count { go.signal() }
    meanwhile()
    done.wait()
  }
}
