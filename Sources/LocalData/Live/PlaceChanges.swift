internal import CryptoCore
internal import StorageCore

/// Notifies observers of a place about writes of this process.
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

  /// Notifies the observers of a write.
  func tell() {
    let all = listeners.withLock { Array($0.all.values) }
    for listener in all { listener() }
  }
}
