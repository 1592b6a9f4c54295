internal import CryptoCore
internal import StorageCore

internal import struct Foundation.Data

/// One provider as all storages over it share it.
///
/// What is said of the queue is that of ``ProviderCalls``: there, one call happens at a time, so changes
/// are told in the order in which they take effect.
final class ProviderPlace: Sendable {
  private struct Key: Hashable {
    let identity: DelegateIdentity
    let isPlain: Bool
  }
  private struct Entry {
    weak var place: ProviderPlace?
  }
  private static let places = Lock<[Key: Entry]>([:])

  /// The place of a provider while anybody uses it.
  static func of(_ provider: any KeychainProvider, isPlain: Bool) -> ProviderPlace {
    guard let identity = identity(of: provider) else {
      return ProviderPlace(provider, ProviderCalls())
    }
    return places.withLock { places in
      let key = Key(identity: identity, isPlain: isPlain)
      if let place = places[key]?.place { return place }
      // One provider is called by one at a time, also where it serves both kinds of storages.
      let place = ProviderPlace(provider, .of(identity))
      places = places.filter { $0.value.place != nil }
      places[key] = Entry(place: place)
      return place
    }
  }

  private static func identity(of provider: some KeychainProvider) -> DelegateIdentity? {
    let type = type(of: provider)
    if type is AnyClass { return DelegateIdentity(of: provider as AnyObject) }
    // Two of them can't differ.
    let isStateless = MemoryLayout.size(ofValue: provider) == 0
    return isStateless
      ? DelegateIdentity(String(reflecting: type), of: ProviderDelegate.self) : nil
  }

  let provider: any KeychainProvider
  let calls: ProviderCalls
  let observers = ChangeObservers()
  /// Held by who changes the header, which happens once at a time.
  let headerTurn = Lock(())
  private let memory = Lock(Memory())

  private struct Memory {
    var header: [UInt8]?
    /// Changes whenever the header does.
    var version: UInt64 = 1
    /// What was told of each name, or read of it, since somebody listens.
    var told: [NameHash: Int?] = [:]
    var watch: Watch?
  }

  /// What is asked for while somebody listens; by its identity a turn knows that it is the current one.
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

  /// Keeps data under a key.
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

  /// Tells of a record if it is another than was told or read before.
  ///
  /// `state` is what tells it from others, or nil when there is none. What was just written, `isOwn`, is
  /// told in any case.
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

  /// The names that somebody may want to hear of.
  var followed: [NameHash] { memory.withLock { Array($0.told.keys) } }

  // MARK: - Observing

  /// Adds an observer, until the observation is released.
  ///
  /// `look` looks what others did: on the queue, every `interval`, or never when that is nil, and whenever
  /// the provider tells.
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
      // In its turn, as every call: whoever reads does not wait longer than his deadline for it. What
      // was changed before it has returned, nobody is told of.
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
