internal import Foundation

/// A value behind a lock, held for memory work only.
final class Guarded<Value>: @unchecked Sendable {
  // `value` is touched only while `lock` is held.
  private let lock = NSLock()
  private var value: Value

  init(_ value: sending Value) { self.value = value }

  func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
