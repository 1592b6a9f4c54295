internal import CryptoCore
internal import Dispatch
internal import Glibc
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
  /// How long a comparison may take before it is tried anew.
  private static let patience = Duration.seconds(30)
  private let wake = DispatchSemaphore(value: 0)
  private let shared = Lock(Shared())

  private struct Shared {
    var state = RemoteState.current
    var isStopped = false
    var hasEnded = false

    /// Notes why changes can't be followed; the first time counts.
    mutating func leave(_ error: StorageError) {
      if case .away(_, let since) = state {
        state = .away(error, since: since)
      } else {
        state = .away(error, since: .now)
      }
    }
  }

  var state: RemoteState { shared.withLock { $0.state } }

  /// Begins to follow a place.
  ///
  /// - Parameters:
  ///   - place: the place.
  ///   - error: why the engine could not be asked just now; nil if it was.
  func start(_ place: RemotePlace, after error: StorageError?) {
    if let error { shared.withLock { $0.leave(error) } }
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
      let begin = MonotonicTime.now
      var hasFailed = false
      do throws(StorageError) {
        guard try look(place, &following) else { return }
      } catch {
        (following, hasFailed) = (nil, true)
        shared.withLock { $0.leave(error) }
      }
      // A watch that ends wakes this thread.
      _ = wake.wait(timeout: .now() + (hasFailed ? Self.pause(failures) : Self.interval))
      // One that ends as soon as it begins is a failure, too.
      failures = hasFailed || MonotonicTime.now.since(begin) < 1_000_000_000 ? failures + 1 : 0
      if !hasFailed, failures > 1 { usleep(UInt32(Self.pause(failures) * 1_000_000)) }
    }
  }

  /// 50 ms to 2 s, in seconds.
  private static func pause(_ failures: Int) -> Double {
    min(0.05 * Double(1 << min(failures, 6)), 2)
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
      following = try place.follow { [weak self] end in self?.ended(end) }
    }
    try place.repair(within: Self.patience)
    shared.withLock { $0.state = .current }
    return true
  }

  private func ended(_ end: RemoteEnd) {
    shared.withLock { shared in
      shared.hasEnded = true
      switch end {
      case .failed(let error): shared.leave(error)
      case .tooOld: break  // the comparison that follows finds what was missed
      }
    }
    wake.signal()
  }
}
