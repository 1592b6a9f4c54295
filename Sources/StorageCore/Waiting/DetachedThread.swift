internal import Dispatch
internal import Glibc

/// Runs a closure that may wait for long on a thread of its own.
package final class DetachedThread: Sendable {
  private let name: String
  private let body: @Sendable () -> Void

  private init(_ name: String, _ body: @escaping @Sendable () -> Void) {
    self.name = name
    self.body = body
  }

  /// Starts a thread, which ends when the closure returns.
  ///
  /// - Parameters:
  ///   - name: the name that tools such as ps(1) show, of at most 15 bytes.
  ///   - body: what to run.
  package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
    if !DetachedThread(name, body).isStarted() {
      // pthread_create(3): EAGAIN, no more threads for now. A queue starts it once it gets one.
      DispatchQueue(label: name).async(execute: body)
    }
  }

  private func isStarted() -> Bool {
    let argument = unsafe Unmanaged.passRetained(self)
    var thread = pthread_t()
    guard unsafe pthread_create(&thread, nil, runThread, argument.toOpaque()) == 0 else {
      unsafe argument.release()
      return false
    }
    pthread_detach(thread)
    return true
  }

  fileprivate func run() {
    // proc(5): the name of this thread. Without /proc it keeps that of the process.
    let file = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    if file >= 0 {
      _ = unsafe write(file, name, name.utf8.count)
      close(file)
    }
    body()
  }
}

private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let argument = unsafe argument else { return nil }
  unsafe Unmanaged<DetachedThread>.fromOpaque(argument).takeRetainedValue().run()
  return nil
}
