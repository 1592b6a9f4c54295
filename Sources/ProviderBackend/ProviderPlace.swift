internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.Data

/// One provider, as shared by all storages over it.
///
/// "The queue" below is that of ``ProviderCalls``. It runs one call at a time, so observers are
/// notified of changes in the order in which these take effect.
///
/// Two places may still lead to the same data, if a program makes a provider anew for each storage.
/// After a write through one place, the others of the same provider type therefore look again, each
/// on its own queue. The last look is later than the last write, so no follower stays behind.
final class ProviderPlace: Sendable {
  private struct Key: Hashable {
    let identity: ProviderIdentity
    let isPlain: Bool
  }
  /// What places have in common that may lead to the same data.
  private struct Kind: Hashable {
    let type: ObjectIdentifier
    let isPlain: Bool
  }
  private static let places = WeakTable<Key, ProviderPlace>()
  /// The places that somebody follows.
  private static let followed = Lock<[Kind: [ObjectIdentifier: ProviderPlace]]>([:])

  /// The place of a provider; it exists while anybody uses it.
  static func of(_ provider: any KeychainProvider, isPlain: Bool) -> ProviderPlace {
    let kind = Kind(type: ObjectIdentifier(type(of: provider)), isPlain: isPlain)
    guard let identity = ProviderIdentity(of: provider) else {
      return ProviderPlace(provider, ProviderCalls(), kind)
    }
    return places.object(Key(identity: identity, isPlain: isPlain)) {
      // A provider gets one call at a time, even when it serves both kinds of storages.
      ProviderPlace(provider, .of(identity), kind)
    }
  }

  let provider: any KeychainProvider
  private let kind: Kind
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
    var reported: [NameHash: Int?] = [:]
    var watch: Watch?
  }

  /// The observation of the provider.
  ///
  /// Its identity tells a polling turn whether it is still current.
  private final class Watch: Sendable {
    let notices = Lock<ChangeObservation?>(nil)
    /// Checks on the queue whether the record of a name is another one now.
    let look: @Sendable (NameHash) -> Void

    init(_ look: @escaping @Sendable (NameHash) -> Void) { self.look = look }
  }

  private init(_ provider: any KeychainProvider, _ calls: ProviderCalls, _ kind: Kind) {
    self.provider = provider
    self.calls = calls
    self.kind = kind
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
      let old = memory.reported.updateValue(mark, forKey: name)
      return isOwn || old != nil && old! != mark
    }
    guard isNews else { return }
    observers.notify(RecordChange(name: name, record: try record(), headerVersion: version))
  }

  // MARK: - Observing

  /// Adds an observer, until the observation is released.
  ///
  /// `look` checks on the queue what others did to a name: to each name every `interval` (never
  /// when nil), and whenever the provider reports a change.
  func add(
    _ observer: @escaping @Sendable (RecordChange) -> Void, every interval: Duration?,
    _ look: @escaping @Sendable (NameHash) -> Void
  ) -> ChangeObservation {
    let registration = Lock<ChangeObservation?>(observers.add(observer))
    Self.followed.withLock { $0[kind, default: [:]][ObjectIdentifier(self)] = self }
    start(every: interval, look)
    return ChangeObservation { [self] in
      registration.withLock { $0 = nil }
      Self.followed.withLock { followed in
        guard observers.isEmpty else { return }
        followed[kind]?[ObjectIdentifier(self)] = nil
        if followed[kind]?.isEmpty == true { followed[kind] = nil }
      }
      let ended = memory.withLock { memory -> Watch? in
        guard observers.isEmpty else { return nil }
        memory.reported = [:]
        defer { memory.watch = nil }
        return memory.watch
      }
      withExtendedLifetime(ended) {}
    }
  }

  private func start(every interval: Duration?, _ look: @escaping @Sendable (NameHash) -> Void) {
    let watch = memory.withLock { memory -> Watch? in
      guard memory.watch == nil else { return nil }
      memory.watch = Watch(look)
      return memory.watch
    }
    guard let watch else { return }
    if let provider = provider as? any ObservableKeychainProvider {
      // On the queue, like every call, so that no reader waits longer than its own deadline.
      // Changes made before `observe` has returned are not reported.
      calls.begin { [self] in
        let notices = provider.observe { [weak self, calls] _ in
          calls.begin { [weak self] in self?.lookAtAll(look) }
        }
        watch.notices.withLock { $0 = notices }
        lookAtAll(look)
      }
    } else if let interval {
      poll(watch, every: max(interval, .milliseconds(10)))
    }
  }

  private func poll(_ watch: Watch, every interval: Duration) {
    calls.begin(after: interval) { [weak self, weak watch] in
      guard let self, let watch, memory.withLock({ $0.watch === watch }) else { return }
      lookAtAll(watch.look)
      poll(watch, every: interval)
    }
  }

  private func lookAtAll(_ look: (NameHash) -> Void) {
    for name in memory.withLock({ Array($0.reported.keys) }) { look(name) }
  }

  // MARK: - Other places

  /// Has the places that may have the same data look at a name, after a write through this place.
  ///
  /// Not to be called on the queue. A place whose provider does not answer tells its followers
  /// that the record is unreadable, and they ask again when they need it.
  func lookElsewhere(_ name: NameHash, within deadline: Duration) {
    let places = Self.followed.withLock { followed -> [ProviderPlace] in
      guard let alike = followed[kind], alike.count > 1 || alike[ObjectIdentifier(self)] == nil
      else { return [] }
      return alike.values.filter { $0 !== self }
    }
    for place in places { place.lookAgain(name, within: deadline) }
  }

  private func lookAgain(_ name: NameHash, within deadline: Duration) {
    let (watch, isKnown) = memory.withLock { ($0.watch, $0.reported[name] != nil) }
    guard let watch, isKnown || !kind.isPlain else { return }
    do throws(StorageError) {
      let isSameHeader = try calls.perform(within: deadline, late: .timedOut) { [self] in
        // On the queue, so only the look itself can find another header.
        let before = memory.withLock { $0.version }
        watch.look(name)
        return memory.withLock { $0.version } == before
      }
      // Under another header, followers may have the name under another hash, or under none yet.
      if isSameHeader { return }
    } catch {}
    observers.notify(RecordChange(name: name, record: []))
  }
}
