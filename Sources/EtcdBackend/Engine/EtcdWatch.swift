internal import CryptoCore
internal import RemoteBackend
internal import StorageCore

/// One watch, on a thread of its own, from its beginning until it ends or is stopped.
final class EtcdWatch: Sendable {
  private let engine: EtcdEngine
  private let request: [UInt8]
  private let tell: @Sendable (WatchSignal) -> Void
  private let shared = Lock(Shared())

  private struct Shared {
    var stream: EtcdStream?
    var isStopped = false
  }

  /// The watch of all rows from `first` to before `end`, of changes after a mark.
  init(
    engine: EtcdEngine, first: [UInt8], end: [UInt8], from mark: Mark,
    _ tell: @escaping @Sendable (WatchSignal) -> Void
  ) {
    (self.engine, self.tell) = (engine, tell)
    request = EtcdRequest.watch(first, to: end, from: mark + 1)
  }

  /// Ends the watch soon, without a last signal.
  func stop() {
    let stream = shared.withLock { shared in
      shared.isStopped = true
      return shared.stream
    }
    stream?.cancel()
  }

  func run() {
    let end: RemoteEnd
    do throws(StorageError) { end = try follow() } catch { end = .failed(error) }
    let isStopped = shared.withLock { shared in
      shared.stream = nil
      return shared.isStopped
    }
    if !isStopped { tell(.ended(end)) }
  }

  /// Tells of changes until the watch ends.
  private func follow() throws(StorageError) -> RemoteEnd {
    let (index, stream) = try engine.stream(request)
    let isStopped = shared.withLock { shared in
      shared.stream = stream
      return shared.isStopped
    }
    guard !isStopped else { return .tooOld }
    var changes: [Row] = []
    var mark: Mark = 0
    while true {
      let message: [UInt8]
      do throws(EtcdFailure) {
        // A member that is silently gone is found by gRPC's keepalive.
        guard let next = try stream.next(within: 10_000_000_000) else { continue }
        message = next
      } catch {
        return .failed(engine.failed(error, at: index))
      }
      let answer = try EtcdWatchAnswer(message[...])
      guard answer.compactedRevision == 0 else { return .tooOld }
      // Also in the answer that says that the watch was made.
      guard !answer.isCancelled else {
        return .failed(engine.failed(Self.refusal(answer.reason), at: index))
      }
      for event in answer.events {
        mark = max(mark, event.row.revision)
        if let change = engine.change(event) { changes.append(change) }
      }
      guard !answer.isFragment else { continue }
      // The revision of the answer itself may be later than changes that are still to come.
      if mark > 0 { tell(.changes(changes, mark)) }
      (changes, mark) = ([], 0)
    }
  }

  /// The failure of a watch that etcd refuses, which says so in words alone.
  private static func refusal(_ reason: String) -> EtcdFailure {
    let status: Int32 =
      if reason.contains("permission denied") {
        7
      } else if reason.contains("auth") {
        16
      } else {
        14
      }
    return EtcdFailure(status: status, message: reason)
  }
}
