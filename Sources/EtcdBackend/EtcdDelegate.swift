public import CryptoCore
internal import RemoteBackend
public import StorageCore

/// Sealed records in etcd; what ``EtcdStorage`` stores them through.
///
/// All delegates of one configuration in a process share one copy in memory and one watch.
public final class EtcdDelegate: RecordPlace {
  private let handle: PlaceHandle<RemotePlace>
  private let reading: Reading

  /// The delegate of a store.
  ///
  /// Nothing is asked before the first use.
  ///
  /// - Parameters:
  ///   - configuration: where the store is.
  ///   - reading: how new the values are that readers get.
  public convenience init(_ configuration: EtcdConfiguration, reading: EtcdReading = .cached) {
    self.init(reading: reading) { () throws(StorageError) in configuration }
  }

  /// The delegate of the store that `configuration` returns at the first use.
  init(
    reading: EtcdReading,
    _ configuration: @escaping @Sendable () throws(StorageError) -> EtcdConfiguration
  ) {
    self.reading = reading.reading
    let find: @Sendable () throws(StorageError) -> RemotePlace = { () throws(StorageError) in
      try EtcdPlaces.place(of: configuration())
    }
    handle = PlaceHandle(use: { .mustExist }, find: find)
  }

  /// The place, which all delegates of the store share.
  func place() throws(StorageError) -> RemotePlace { try handle.object() }

  /// True: a call may ask etcd.
  public var asksOthers: Bool { true }

  /// Identifies the store; nil for a configuration that is wrong.
  public var identity: DelegateIdentity? { handle.identity }

  /// The store's address, for errors; nil for a configuration that is wrong.
  public var location: String? { handle.location }

  /// What the program may do here; a missing store is never made by a write.
  public var allowance: StoreAccess { handle.known?.allowance ?? .mustExist }

  /// The prefix, to which the keys are bound.
  public func place() throws(StorageError) -> String { try handle.object().place() as String }

  /// How many writes a transaction may have.
  public var commitLimit: Int { EtcdEngine.limits.operations - 2 }

  /// The header and its version.
  ///
  /// - Throws: `StorageError` when the store can't be read for the first time.
  public func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64) {
    try place().header()
  }

  /// Lets `body` change the header; `body` runs again if another machine changed it meanwhile.
  ///
  /// - Throws: `StorageError`, or what `body` throws; the header is then unchanged, except with
  ///   the code `outcomeUnknown`.
  public func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 { try place().updateHeader(body) }

  /// The record under `name`, and the version of the header that was current when it was read.
  ///
  /// - Throws: `StorageError` when the store can't be read.
  public func lookup(
    _ name: NameHash
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) {
    try place().lookup(name, reading)
  }

  /// Copies a record out of memory, where the reader takes what memory has.
  public func copyRecord(
    _ name: NameHash, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> RecordCopy? {
    guard case .cached = reading else { return nil }
    return unsafe try place().copyRecord(name, into: buffer)
  }

  /// Makes all of `writes` or none, in one atomic step, if the header has the given version.
  ///
  /// - Throws: `StorageError`; nothing is then changed, except with the code `outcomeUnknown`.
  public func commit(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome {
    try place().commit(writes, headerVersion: headerVersion)
  }

  /// The names of all records.
  ///
  /// - Throws: `StorageError` when the store can't be read.
  public func names() throws(StorageError) -> [NameHash] { try place().names(reading) }

  /// All records of one moment.
  public func allRecords() throws(StorageError) -> AllRecords? {
    try place().allRecords(reading)
  }

  /// Refuses: the machines share the store, and one that lacks its key must not remove it for all.
  ///
  /// - Throws: `StorageError`: `unsupported`, with the command that etcd's administrator uses.
  public func discard() throws(StorageError) {
    let prefix: String = try place()
    // As a shell reads it.
    let name = prefix.split(separator: "'", omittingEmptySubsequences: false)
      .joined(separator: "'\\''")
    throw StorageError(
      .unsupported,
      "machines share the store, so no program discards it. Where it is to go for all of them, stop them "
        + "and let etcd's administrator run: etcdctl del --prefix '\(name)/'", path: location)
  }

  /// Calls `observer` for each change of any machine.
  public func observe(
    _ observer: @escaping @Sendable (RecordChange) -> Void
  ) -> ChangeObservation {
    do throws(StorageError) { return try place().observe(observer) } catch {
      return ChangeObservation {}  // every use throws the error
    }
  }
}

extension EtcdDelegate: DistantPlace {
  package var deadline: Duration {
    do throws(StorageError) { return try place().deadline } catch {
      return .seconds(10)  // every use throws the error
    }
  }

  package func latest(
    _ names: [NameHash]
  ) throws(StorageError) -> (records: [[UInt8]?], headerVersion: UInt64) {
    try place().latest(names)
  }

  package func watchConnection(
    _ sink: @escaping @Sendable (ConnectionEvent) -> Void
  ) -> ChangeObservation {
    do throws(StorageError) { return try place().watchConnection(sink) } catch {
      return ChangeObservation {}  // every use throws the error
    }
  }

  package func takeInAll() throws(StorageError) { try place().takeInAll() }

  package func isRecord(
    _ record: [UInt8], of name: NameHash, olderThan headerVersion: UInt64
  ) throws(StorageError) -> Bool {
    try place().isRecord(record, of: name, olderThan: headerVersion)
  }
}

extension EtcdDelegate: KeepsOwnValues {
  package var ownPrefix: String { EtcdStorage.machinePrefix }
}

extension EtcdDelegate: MadeByCommand {
  package var missing: StorageError {
    StorageError(
      .unavailable,
      "there is no store below this prefix in etcd, and none was made; check the addresses and the "
        + "prefix. A new store is made once, on one machine, by EtcdStorage.create() or securestore "
        + "init --etcd", path: location)
  }
}

/// The places of this process, one for each store and user.
private enum EtcdPlaces {
  private static let all = WeakTable<[ExactString], RemotePlace>()

  static func place(of configuration: EtcdConfiguration) throws(StorageError) -> RemotePlace {
    var endpoints: [EtcdEndpoint] = []
    for text in configuration.endpoints { endpoints.append(try EtcdEndpoint(text)) }
    guard !endpoints.isEmpty else {
      throw StorageError(.invalid, "a store in etcd needs the address of at least one member")
    }
    let prefix = configuration.prefix
    guard (1...512).contains(prefix.utf8.count), !prefix.hasSuffix("/"), !prefix.utf8.contains(0)
    else {
      throw StorageError(
        .invalid, "a prefix in etcd has 1 to 512 bytes and no slash at its end, such as /apps/shop")
    }
    // What leads to the store in another way has a connection of its own.
    var id = configuration.endpoints + [prefix]
    id += [configuration.user?.name ?? "", configuration.user?.source ?? ""]
    id += configuration.certificates?.paths ?? []
    id += ["\(configuration.access)", "\(configuration.deadline)"]
    if let copy = configuration.copy { id.append("\(ObjectIdentifier(copy))") }
    return try all.object(id.map { ExactString(text: $0) }) {
      () throws(StorageError) in
      var options = RemotePlace.Options()
      options.deadline = configuration.deadline
      options.access = configuration.access == .readOnly ? .readOnly : .mustExist
      options.place = prefix
      options.copy = configuration.copy
      let engine = EtcdEngine(
        endpoints, prefix: prefix, certificates: configuration.certificates,
        user: configuration.user)
      return RemotePlace(engine, options)
    }
  }
}
