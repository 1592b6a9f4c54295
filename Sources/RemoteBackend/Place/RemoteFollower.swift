internal import CryptoCore
internal import Dispatch
internal import Glibc
internal import StorageCore

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

  private let events = Observers<ConnectionEvent>()

  /// Why something does not succeed, and since when.
  struct Failure: Sendable {
    var error: StorageError
    var since: MonotonicTime
  }

  private struct Shared {
    /// Why no watch is there: ends with a comparison that succeeds.
    var lost: Failure?
    /// Why the last question was not answered: ends with one that is.
    var failed: Failure?
    var isStopped = false
    var hasEnded = false

    var failure: Failure? {
      guard var newest = lost ?? failed else { return nil }
      let since = [lost, failed].compactMap { $0?.since }.min { $0.nanoseconds < $1.nanoseconds }
      newest.since = since ?? newest.since
      return newest
    }
  }

  /// Why the memory is not current, and since when; nil while it is.
  var failure: Failure? { shared.withLock { $0.failure } }

  /// Calls `sink` when the engine is lost or found, and when a comparison repaired something.
  func watch(_ sink: @escaping @Sendable (ConnectionEvent) -> Void) -> ChangeObservation {
    events.add(sink)
  }

  /// Asks the engine, and notes whether it answered.
  func noting<Result>(
    _ engine: any RemoteEngine, _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    do throws(StorageError) {
      let result = try body()
      change(engine) { $0.failed = nil }
      return result
    } catch {
      // Any other error is an answer.
      if [.unavailable, .timedOut, .denied, .outcomeUnknown].contains(error.code) {
        change(engine) { $0.failed = Failure(error: error, since: $0.failed?.since ?? .now) }
      }
      throw error
    }
  }

  /// Changes what is known of the connection, and tells if it is lost or found by that.
  private func change(_ engine: any RemoteEngine, _ body: (inout Shared) -> Void) {
    let (old, new) = shared.withLock { shared in
      let old = shared.failure
      body(&shared)
      return (old, shared.failure)
    }
    switch (old, new) {
    case (nil, let failure?): tell(.lost(failure.error), of: engine)
    case (let failure?, nil):
      tell(.found(after: .nanoseconds(MonotonicTime.now.since(failure.since))), of: engine)
    default: break
    }
  }

  /// Tells observers and the program's diagnostics of an event.
  func tell(_ event: ConnectionEvent, of engine: any RemoteEngine) {
    events.notify(event)
    let (code, text): (StorageError.Code, String) =
      switch event {
      case .lost(let error): (error.code, "changes can't be followed now: \(error.message)")
      case .found(let span):
        (.unavailable, "changes are followed again, after \(Int(span / .seconds(1))) s")
      case .repaired(let count):
        (.unavailable, "a comparison took in \(count) changes that had not been told")
      }
    StorageDiagnostics.report(StorageError(code, text, path: engine.title))
  }

  /// Begins to follow a place.
  ///
  /// - Parameters:
  ///   - place: the place.
  ///   - error: why the engine could not be asked just now; nil if it was.
  func start(_ place: RemotePlace, after error: StorageError?) {
    if let error { lose(place.engine, error) }
    DetachedThread.start("sps-remote") { [self, weak place] in run { place } }
  }

  /// Ends the thread.
  func stop() {
    shared.withLock { $0.isStopped = true }
    wake.signal()
  }

  private func lose(_ engine: any RemoteEngine, _ error: StorageError) {
    change(engine) { $0.lost = Failure(error: error, since: $0.lost?.since ?? .now) }
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
        if let engine = place()?.engine { lose(engine, error) }
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
      let engine = place.engine
      following = try place.follow { [weak self] end in self?.ended(end, engine) }
    }
    try place.repair(within: Self.patience)
    change(place.engine) { if !$0.hasEnded { $0.lost = nil } }
    return true
  }

  private func ended(_ end: RemoteEnd, _ engine: any RemoteEngine) {
    shared.withLock { $0.hasEnded = true }
    // After `tooOld` the comparison that follows finds what was missed.
    if case .failed(let error) = end { lose(engine, error) }
    wake.signal()
  }
}
