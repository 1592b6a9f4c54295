internal import RemoteBackend
public import StorageCore

public import struct FoundationEssentials.Data

/// Values that many machines share, sealed, in etcd.
///
///     let fleet = EtcdStorage(
///       endpoints: ["https://10.0.0.5:2379", "https://10.0.0.6:2379", "https://10.0.0.7:2379"],
///       prefix: "/apps/shop", keySource: .systemdCredential("fleet"))
///     @Live(fleet, "log-level") var level = "info"
///
/// etcd sees hashed names and sealed values. Reads come from memory, which a watch keeps current, and
/// go on while etcd is away. A write has been made by a majority of etcd's members before it returns.
/// If the answer to a write is lost, the storage finds out what became of it; the error
/// `outcomeUnknown` means that it could not within the deadline.
///
/// The store is made by ``create()`` once, on one machine, and by nothing else.
public final class EtcdStorage: DelegatedStorage, StandardStorage, @unchecked Sendable {
  // Adds an immutable reference to DelegatedStorage.
  let delegate: EtcdDelegate
  private let keySource: KeySource

  // MARK: The program's store

  private static let settled = Lock<(EtcdConfiguration, KeySource)?>(nil)

  /// Sets the store that `@Etcd` and its family use, once, at the start of the program.
  ///
  /// A second call ends the process: one half of the program would else use another store than the
  /// other half.
  ///
  /// - Parameters:
  ///   - configuration: where the store is.
  ///   - keySource: where its key comes from.
  public static func bootstrap(_ configuration: EtcdConfiguration, keySource: KeySource) {
    let isFirst = settled.withLock { settled in
      guard settled == nil else { return false }
      settled = (configuration, keySource)
      return true
    }
    // Not a precondition, because a release build omits its text.
    if !isFirst {
      fatalError("EtcdStorage.bootstrap was called twice. Call it once, at the start of main")
    }
  }

  /// The storage that `@Etcd` and its family use; in a test with its own stores, the test's.
  ///
  /// Every use is the error `unavailable` until ``bootstrap(_:keySource:)`` was called.
  public static var standard: EtcdStorage {
    guard let test = TestStores.inUse else { return program }
    return test.kept {
      EtcdStorage(
        EtcdDelegate(reading: .cached, configuration), records: test.delegate(of: "etcd"),
        keySource: test.keySource)
    }
  }

  private static let program = EtcdStorage(
    EtcdDelegate(reading: .cached, configuration),
    keySource: KeySource(current: { settled.withLock { $0?.1 } ?? KeySource([]) }))

  private static let configuration: @Sendable () throws(StorageError) -> EtcdConfiguration = {
    () throws(StorageError) in
    if let configuration = settled.withLock({ $0?.0 }) { return configuration }
    throw StorageError(
      .unavailable,
      "the program has not said where its etcd is; call EtcdStorage.bootstrap at the start of main")
  }

  // MARK: Making one

  /// A store in etcd.
  ///
  /// - Parameters:
  ///   - configuration: where the store is, and how this program gets there.
  ///   - keySource: where the key comes from. Each machine needs one that opens the store: the same
  ///     on all, or a slot for each, see ``/StorageCore/KeyAdministration``.
  ///   - reading: how new the values are that readers get.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  ///   - errorClosure: gets the errors of calls that can't throw.
  public convenience init(
    _ configuration: EtcdConfiguration, keySource: KeySource, reading: EtcdReading = .cached,
    authenticationTag: Data? = nil, errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      EtcdDelegate(configuration, reading: reading), keySource: keySource,
      authenticationTag: authenticationTag, errorClosure: errorClosure)
  }

  /// A store in etcd, with the usual settings.
  ///
  /// - Parameters:
  ///   - endpoints: the addresses of the members, such as "https://10.0.0.5:2379".
  ///   - prefix: the name of the store, such as "/apps/shop".
  ///   - keySource: where the key comes from.
  public convenience init(endpoints: [String], prefix: String, keySource: KeySource) {
    self.init(
      EtcdConfiguration(endpoints: endpoints, prefix: prefix), keySource: keySource)
  }

  /// The storage over a delegate, or over `records` in its place.
  init(
    _ delegate: EtcdDelegate, records: (any RecordPlace)? = nil, keySource: KeySource,
    authenticationTag: Data? = nil, errorClosure: StorageErrorClosure? = nil
  ) {
    self.delegate = delegate
    self.keySource = keySource
    // XAES-256-GCM: nobody counts its seals, so machines need not tell each other of theirs.
    super.init(
      records ?? delegate, keySource: keySource, algorithm: .xaes256GCM,
      authenticationTag: authenticationTag, errorClosure: errorClosure)
  }

  // MARK: The store

  /// Makes the store, once, on one machine.
  ///
  /// - Throws: `StorageError`: `duplicate` if it exists.
  public func create() throws(StorageError) {
    let place = try delegate.place() as RemotePlace
    try place.repair()
    guard try place.header().header == nil else {
      throw StorageError(
        .duplicate, "the store exists already; use it, or another prefix", path: place.location)
    }
    try place.creating { () throws(StorageError) in try open() }
  }

  /// Asks etcd for everything that this process does not know yet, and keeps the copy on this
  /// machine.
  ///
  /// - Throws: `StorageError` when etcd can't be asked, or the copy not be written.
  public func refresh() throws(StorageError) {
    let place = try delegate.place() as RemotePlace
    try place.repair()
    try place.keep()
  }

  /// How current this process's copy is; costs no call.
  public var state: EtcdState {
    do throws(StorageError) {
      let place = try delegate.place() as RemotePlace
      guard let age = place.age else { return .unused }
      switch place.state {
      case .current: return .current(age: age)
      case .away(let error, let since):
        return .away(error, since: .nanoseconds(MonotonicTime.now.since(since)), age: age)
      case .unkept(let error, let since):
        return .unkept(error, since: .nanoseconds(MonotonicTime.now.since(since)), age: age)
      }
    } catch {
      return .unused
    }
  }
}
