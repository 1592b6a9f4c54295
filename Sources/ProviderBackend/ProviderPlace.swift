internal import CryptoCore
internal import StorageCore

internal import struct Foundation.Data

/// One provider, as shared by all storages over it.
///
/// "The queue" below is that of ``ProviderCalls``. It runs one call at a time, so observers are
/// notified of changes in the order in which these take effect.
final class ProviderPlace: Sendable {
  private struct Key: Hashable {
    let identity: DelegateIdentity
    let isPlain: Bool
  }
  private static let places = WeakTable<Key, ProviderPlace>()

  /// The place of a provider; it exists while anybody uses it.
  static func of(_ provider: any KeychainProvider, isPlain: Bool) -> ProviderPlace {
    guard let identity = identity(of: provider) else {
      return ProviderPlace(provider, ProviderCalls())
    }
    return places.object(Key(identity: identity, isPlain: isPlain)) {
      // A provider gets one call at a time, even when it serves both kinds of storages.
      ProviderPlace(provider, .of(identity))
    }
  }

  private static func identity(of provider: some KeychainProvider) -> DelegateIdentity? {
    let type = type(of: provider)
    if type is AnyClass { return DelegateIdentity(of: provider as AnyObject) }
    // Two values of such a type can't differ.
    let isStateless = MemoryLayout.size(ofValue: provider) == 0
    return isStateless
      ? DelegateIdentity(String(reflecting: type), of: ProviderDelegate.self) : nil
  }

  let provider: any KeychainProvider
  let calls: ProviderCalls
  let observers = ChangeObservers()
  /// Held while the header is changed, so that only one change happens at a time.
  let headerTurn = Lock(())
  private let memory = Lock(Memory())

  private struct Memory {
    var header: [UInt8]?
    /// Incremented whenever the header changes.
    var version: UInt64 = 1
    /// The state of each name that was last reported or read, since the first observer was added.
    var told: [NameHash: Int?] = [:]
    var watch: Watch?
  }

  /// The observation of the provider.
  ///
  /// Its identity tells a polling turn whether it is still current.
  private final class Watch: Sendable {
    let notices = Lock<ChangeObservation?>(nil)
  }

  private init(_ provider: any KeychainProvider, _ calls: ProviderCalls) {
    self.provider = provider
    self.calls = calls
  }

  // MARK: - On the queue

  /// The data of a key.
  func data(_ key: String) -> [UInt8]? { provider.getData(forKey: key).map { Array($0) } }

  /// Stores data under a key.
  func set(_ data: [UInt8], _ key: String) throws(StorageError) {
    guard provider.setData(Data(data), forKey: key) else {
      throw StorageError(.io, "the provider did not take the data; the old data is still there")
    }
  }

  /// Deletes the data of a key, if there is any.
  func delete(_ key: String) throws(StorageError) {
    guard provider.deleteData(forKey: key) || provider.getData(forKey: key) == nil else {
      throw StorageError(.io, "the provider did not delete the data; it is still there")
    }
  }

  /// Remembers a header that was read.
  ///
  /// - Returns: its version.
  func note(header: [UInt8]?) -> UInt64 {
    memory.withLock { memory in
      if memory.header != header {
        memory.header = header
        memory.version += 1
      }
      return memory.version
    }
  }

  /// Notifies observers of a record if it differs from the one that was last reported or read.
  ///
  /// `state` identifies the record; nil means that there is none. This process's own writes
  /// (`isOwn`) are always reported.
  func follow(
    _ name: NameHash, _ state: [UInt8]?, isOwn: Bool = false, version: UInt64?,
    _ record: () throws(StorageError) -> [UInt8]?
  ) throws(StorageError) {
    guard !observers.isEmpty else { return }
    let mark = state?.hashValue
    let isNews = memory.withLock { memory in
      let old = memory.told.updateValue(mark, forKey: name)
      return isOwn || old != nil && old! != mark
    }
    guard isNews else { return }
    observers.notify(RecordChange(name: name, record: try record(), headerVersion: version))
  }

  /// The names that observers may want to follow.
  var followed: [NameHash] { memory.withLock { Array($0.told.keys) } }

  // MARK: - Observing

  /// Adds an observer, until the observation is released.
  ///
  /// `look` checks on the queue what others changed: every `interval` (never when nil), and
  /// whenever the provider reports a change.
  func add(
    _ observer: @escaping @Sendable (RecordChange) -> Void, every interval: Duration?,
    _ look: @escaping @Sendable () -> Void
  ) -> ChangeObservation {
    let registration = Lock<ChangeObservation?>(observers.add(observer))
    start(every: interval, look)
    return ChangeObservation { [self] in
      registration.withLock { $0 = nil }
      let ended = memory.withLock { memory -> Watch? in
        guard observers.isEmpty else { return nil }
        memory.told = [:]
        defer { memory.watch = nil }
        return memory.watch
      }
      withExtendedLifetime(ended) {}
    }
  }

  private func start(every interval: Duration?, _ look: @escaping @Sendable () -> Void) {
    let watch = memory.withLock { memory -> Watch? in
      guard memory.watch == nil else { return nil }
      memory.watch = Watch()
      return memory.watch
    }
    guard let watch else { return }
    if let provider = provider as? any ObservableKeychainProvider {
      // On the queue, like every call, so that no reader waits longer than its own deadline.
      // Changes made before `observe` has returned are not reported.
      calls.begin { [calls] in
        let notices = provider.observe { [calls] _ in calls.begin(look) }
        watch.notices.withLock { $0 = notices }
        look()
      }
    } else if let interval {
      poll(watch, every: max(interval, .milliseconds(10)), look)
    }
  }

  private func poll(
    _ watch: Watch, every interval: Duration, _ look: @escaping @Sendable () -> Void
  ) {
    calls.begin(after: interval) { [weak self, weak watch] in
      guard let self, let watch, memory.withLock({ $0.watch === watch }) else { return }
      look()
      poll(watch, every: interval, look)
    }
  }
}
