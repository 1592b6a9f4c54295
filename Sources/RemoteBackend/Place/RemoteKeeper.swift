internal import CryptoCore
internal import Dispatch
internal import Glibc
internal import StorageCore

/// Keeps the copy of a place current, on a thread of its own.
final class RemoteKeeper: Sendable {
  /// How long changes are gathered, in microseconds.
  private static let pause: UInt32 = 200_000
  /// How often the moment is kept when nothing changes, in seconds.
  private static let interval = 60.0
  let copy: RemoteCopy
  private let wake = DispatchSemaphore(value: 0)
  private let turn = Lock(())
  private let isStopped = Lock(false)
  private let failed = Lock<(error: StorageError, since: MonotonicTime)?>(nil)

  /// Why the copy can't be written, and since when; nil while it can.
  var failure: (error: StorageError, since: MonotonicTime)? { failed.withLock { $0 } }

  /// Notes from now on what changes in the memory of a place.
  init(_ copy: RemoteCopy, _ memory: RemoteMemory) {
    self.copy = copy
    memory.keepChanges { [wake] in wake.signal() }
  }

  /// Begins to keep what a place has in memory.
  func start(_ place: RemotePlace) {
    DetachedThread.start("sps-copy") { [self, weak place] in run { place } }
  }

  /// Ends the thread.
  func stop() {
    isStopped.withLock { $0 = true }
    wake.signal()
  }

  private func run(_ place: () -> RemotePlace?) {
    while !isStopped.withLock({ $0 }) {
      let isDue = wake.wait(timeout: .now() + Self.interval) == .timedOut
      usleep(Self.pause)
      guard let place = place() else { return }
      // Somebody else may have kept it meanwhile.
      guard isDue || place.memory.hasChanges else { continue }
      // The copy is then older, and its age says so.
      do throws(StorageError) { try save(place) } catch { StorageDiagnostics.report(error) }
    }
  }

  /// Keeps what has changed since the last time.
  ///
  /// - Throws: `StorageError` when the copy can't be written; the next time has the changes, too.
  func save(_ place: RemotePlace) throws(StorageError) {
    try turn.withLock { (_) throws(StorageError) in
      guard let history = place.knownHistory, let changes = try place.memory.takeChanges() else {
        return
      }
      let age = place.options.clock.now().since(changes.confirmed) / 1_000_000_000
      let contents = RemoteCopy.Contents(
        history: history, mark: changes.mark, time: WallTime.seconds - age,
        lane: place.writer.lanes.latest ?? place.rememberedLane.withLock { $0 })
      do throws(StorageError) {
        if try !copy.save(changes, contents) { place.memory.putBack(changes) }
        failed.withLock { $0 = nil }
      } catch {
        place.memory.putBack(changes)
        failed.withLock { $0 = (error, $0?.since ?? .now) }
        throw error
      }
    }
  }
}
