internal import CryptoCore
internal import StorageCore

/// Sends keys after their writes, in one task for each key, so that a hanging key delays no other.
///
/// A write only notes its key here. A failed send is repeated while the connection lasts, first
/// after one second and at last once a minute. The next connection compares the keys to find out
/// what is still to be sent.
final class SyncWorker: Sendable {
  private struct State {
    /// The keys that a task is sending, and whether they were written again meanwhile.
    var keys: [String: Bool] = [:]
    var tasks: [String: Task<Void, Never>] = [:]
    var isStopped = false
  }
  private let state = Lock(State())
  // Weak, since the core owns the worker.
  private let core: Lock<WeakCore>
  private let onEvent: @Sendable (SyncEvent) -> Void
  private let firstDelay: Duration
  private static let lastDelay = Duration.seconds(60)

  private struct WeakCore {
    weak var core: RouterCore?
  }

  init(
    _ core: RouterCore, retryAfter: Duration, _ onEvent: @escaping @Sendable (SyncEvent) -> Void
  ) {
    self.core = Lock(WeakCore(core: core))
    firstDelay = retryAfter
    self.onEvent = onEvent
  }

  /// The keys that are not sent yet, in order.
  var pending: [String] { state.withLock { $0.keys.keys.sorted() } }

  /// Notes a key to be sent soon; returns at once.
  func note(_ key: AnyStorageKey) {
    let name = key.description
    state.withLock { state in
      guard !state.isStopped, state.keys.updateValue(true, forKey: name) == nil else { return }
      state.tasks[name] = Task { [self] in await send(key, name) }
    }
  }

  /// Cancels all running sends.
  func stop() {
    let tasks = state.withLock { state in
      state.isStopped = true
      defer { (state.keys, state.tasks) = ([:], [:]) }
      return Array(state.tasks.values)
    }
    for task in tasks { task.cancel() }
  }

  private func send(_ key: AnyStorageKey, _ name: String) async {
    var delay = firstDelay
    while !Task.isCancelled {
      let isStopped = state.withLock { state in
        if !state.isStopped { state.keys[name] = false }
        return state.isStopped
      }
      guard !isStopped else { return }
      guard let event = await core.withLock({ $0.core })?.sendAutomatically(key, retryAfter: delay)
      else { return }
      guard !Task.isCancelled else { return }
      onEvent(event)
      if case .failed(_, _, let wait?) = event {
        do { try await Task.sleep(for: wait) } catch { return }
        delay = min(delay * 2, Self.lastDelay)
      } else {
        delay = firstDelay
        if isDone(name) { return }
      }
    }
  }

  /// Whether the key was not written again since its last send.
  private func isDone(_ name: String) -> Bool {
    state.withLock { state in
      guard state.keys[name] != true else { return false }
      state.keys[name] = nil
      state.tasks[name] = nil
      return true
    }
  }
}

extension RouterCore {
  /// Syncs a key that was written, unless its value is too large.
  fileprivate func sendAutomatically(
    _ key: AnyStorageKey, retryAfter delay: Duration
  ) async -> SyncEvent {
    await sendAutomatically(erased: key.base, key.description, retryAfter: delay)
  }

  private func sendAutomatically<Key: StorageKey>(
    erased key: Key, _ name: String, retryAfter delay: Duration
  ) async -> SyncEvent {
    do {
      let engine = try await syncEngine(of: key, nil)
      let limit = state.withLock { $0.sync.maxAutoSyncSize }
      let size = try await engine.size()
      guard size <= limit else { return .tooLarge(key: name, bytes: size, limit: limit) }
      let outcome = try await engine.run().kind
      return outcome == .conflict ? .conflict(key: name) : .agreed(key: name, outcome)
    } catch {
      let error = Self.syncError(error, key.name)
      return .failed(
        key: name, error, retryAfter: Self.isWorthRetrying(error.code) ? delay : nil)
    }
  }

  /// Whether a later call may succeed without a change of the program.
  private static func isWorthRetrying(_ code: StorageError.Code) -> Bool {
    ![.unsupported, .invalid, .unregisteredKey, .invalidAppGroupIdentifier].contains(code)
  }
}
