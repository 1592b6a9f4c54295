internal import CryptoCore
internal import Dispatch
package import StorageCore

/// How current the memory of a place is.
package enum RemoteState: Sendable {
  /// A watch tells of changes.
  case current
  /// No watch is there, for this reason, since a time of the monotonic clock.
  case away(StorageError, since: MonotonicTime)
}

/// Keeps the memory of a place current, on a thread of its own, for as long as the place lives.
///
/// It follows a watch. When the watch ends, and now and then without a reason, it compares all rows
/// with the engine's: a watch may have missed a change.
final class RemoteFollower: Sendable {
  /// How often all rows are compared while a watch is there.
  private static let interval = 60.0
  private let wake = DispatchSemaphore(value: 0)
  private let shared = Lock(Shared())

  private struct Shared {
    var state = RemoteState.current
    var isStopped = false
    var hasEnded = false
  }

  var state: RemoteState { shared.withLock { $0.state } }

  /// Begins to follow a place.
  func start(_ place: RemotePlace) {
    DetachedThread.start("sps-remote") { [self, weak place] in run { place } }
  }

  /// Ends the thread.
  func stop() {
    shared.withLock { $0.isStopped = true }
    wake.signal()
  }

  private func run(_ place: () -> RemotePlace?) {
    var following: ChangeObservation?
    var failures = 0
    while !shared.withLock({ $0.isStopped }) {
      do throws(StorageError) {
        guard try look(place, &following) else { return }
        failures = 0
      } catch {
        following = nil
        failures += 1
        shared.withLock { shared in
          if case .current = shared.state { shared.state = .away(error, since: .now) }
        }
      }
      let pause = failures == 0 ? Self.interval : min(0.05 * Double(1 << min(failures, 6)), 2)
      _ = wake.wait(timeout: .now() + pause)
    }
  }

  /// Follows anew if the watch has ended, and compares all rows.
  ///
  /// - Returns: false when the place is gone. It is not kept alive while nothing happens.
  private func look(
    _ place: () -> RemotePlace?, _ following: inout ChangeObservation?
  ) throws(StorageError) -> Bool {
    guard let place = place() else { return false }
    let hasEnded = shared.withLock { shared in
      defer { shared.hasEnded = false }
      return shared.hasEnded
    }
    // First the watch, then the comparison: what changes in between is told.
    if following == nil || hasEnded {
      following = nil
      following = try place.follow { [weak self] _ in self?.end() }
    }
    try place.repair()
    shared.withLock { $0.state = .current }
    return true
  }

  private func end() {
    shared.withLock { $0.hasEnded = true }
    wake.signal()
  }
}
