internal import CryptoCore
internal import StorageCore

/// Tells who follows a place of what this process has written there.
final class PlaceChanges: Sendable {
  private struct Listeners {
    var next = 0
    var all: [Int: @Sendable () -> Void] = [:]
  }
  private let listeners = Lock(Listeners())

  /// Calls `listener` after each write, until the observation is released.
  func add(_ listener: @escaping @Sendable () -> Void) -> ChangeObservation {
    let id = listeners.withLock { listeners in
      defer { listeners.next += 1 }
      listeners.all[listeners.next] = listener
      return listeners.next
    }
    return ChangeObservation { [self] in listeners.withLock { $0.all[id] = nil } }
  }

  /// Says that something was written.
  func tell() {
    let all = listeners.withLock { Array($0.all.values) }
    for listener in all { listener() }
  }
}
