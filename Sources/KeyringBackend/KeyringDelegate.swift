package import CryptoCore
package import StorageCore

/// Sealed records as items of the desktop's keyring; what ``KeychainStorage`` stores them through.
///
/// An item has the attributes `xdg:schema`, `service` and `record`, the last a hashed name. The
/// header is an item of its own. The service has no transactions: a commit is of one write, and
/// processes that use this library take turns by a lock file in the application's data folder.
package final class KeyringDelegate: RecordPlace {
  /// The state that depends on the service, which may not be known before the first use.
  ///
  /// Delegates of one service and collection on one bus share it, so each hears at once of the
  /// others' writes.
  private final class Opened: Sendable {
    private struct Key: Hashable {
      let service: String
      let accessGroup: String?
      let client: ObjectIdentifier
    }
    private static let all = WeakTable<Key, Opened>()

    /// The shared state of a service, kept while anybody uses it.
    static func shared(
      service: String, accessGroup: String?, client: KeyringClient
    ) throws(StorageError) -> Opened {
      let key = Key(
        service: service, accessGroup: accessGroup, client: ObjectIdentifier(client))
      return try all.object(key) { () throws(StorageError) in
        try Opened(service: service, accessGroup: accessGroup, client: client)
      }
    }

    let service: String
    let lockPath: String
    let store: KeyringStore
    let following: KeyringFollower

    init(
      service: String, accessGroup: String?, client: KeyringClient
    ) throws(StorageError) {
      self.service = service
      lockPath = try StandardFolders.data(application: service) + "/keyring.lock"
      store = KeyringStore(
        item: SealedItem(service: service), accessGroup: accessGroup, memory: Lock(.init()))
      following = KeyringFollower(client: client, store: store)
    }
  }

  private let client: KeyringClient
  private let access: KeyringAccess
  private let accessGroup: @Sendable () throws(StorageError) -> String?
  private let service: @Sendable () throws(StorageError) -> String
  private let use: @Sendable () -> StoreAccess
  private let resolved = SetOnce<Opened>()

  /// The delegate of a service's store in the keyring of the session.
  ///
  /// The keyring is not asked before the first use.
  ///
  /// - Parameters:
  ///   - service: whose store it is, such as an application's id: 1 to 200 bytes without a slash;
  ///     any other name throws `invalid` at every use.
  ///   - accessGroup: the collection, by its alias or its label. Nil for the one that the store is
  ///     in already, or the default one for a new store.
  ///   - access: how long calls wait, and whether they may ask the user.
  package convenience init(
    service: String, accessGroup: String? = nil, access: KeyringAccess = .standard
  ) {
    self.init(
      access: access, accessGroup: { () throws(StorageError) in accessGroup },
      service: { () throws(StorageError) in service })
  }

  /// The delegate of a service whose name is asked for at the first use, on the bus of a client.
  ///
  /// The collection is asked for at every use, and the first answer is used; later calls may only
  /// throw.
  init(
    access: KeyringAccess = .standard, client: KeyringClient? = nil,
    use: @escaping @Sendable () -> StoreAccess = { .readWrite },
    accessGroup: @escaping @Sendable () throws(StorageError) -> String? = {
      () throws(StorageError) in nil
    },
    service: @escaping @Sendable () throws(StorageError) -> String
  ) {
    self.use = use
    self.client = client ?? access.client
    self.access = access
    self.accessGroup = accessGroup
    self.service = service
  }

  private func opened() throws(StorageError) -> Opened {
    let accessGroup = try accessGroup()
    if let opened = resolved.load() { return opened }
    return resolved.storeIfNil(
      try Opened.shared(service: try service(), accessGroup: accessGroup, client: client))
  }

  /// The identity of the service's store, shared by all its delegates; nil when the service can't
  /// be known.
  package var identity: DelegateIdentity? {
    do throws(StorageError) { return DelegateIdentity(of: try opened()) } catch { return nil }
  }

  private func perform<Result>(
    _ body: (BusConnection, Call) throws(BusFailure) -> Result
  ) throws(StorageError) -> Result {
    try client.perform(access, body)
  }

  /// Runs `body` alone among the processes that use this library.
  private func alone<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    let path = try opened().lockPath
    try Folder.create(FilePath.folder(of: path))
    let lock = try FileLock(path, waiting: access.deadline, .current)
    defer { withExtendedLifetime(lock) {} }
    return try body()
  }

  // MARK: - The place

  /// What the program may do here.
  package var allowance: StoreAccess { use() }

  /// Does nothing: a store in the keyring is made with its header; only its lock file is made
  /// besides.
  package func makeNothing() {}

  // MARK: - Header and records

  /// True: a call waits for the Secret Service, or for its user.
  package var asksOthers: Bool { true }

  /// One: the Secret Service has no transactions.
  package var commitLimit: Int { 1 }

  /// The name of the service: items of one service do not open in the place of another's.
  package func place() throws(StorageError) -> String { try opened().service }

  /// The header and its version.
  ///
  /// - Throws: `StorageError`: `locked`, `noBus`, `noService`, `noCollection`, `timedOut` and the
  ///   like, when the header can't be read.
  package func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64) {
    let store = try opened().store
    let view = try perform { (connection, call) throws(BusFailure) in
      try store.view(of: nil, connection, call)
    }
    return (view.header, view.version)
  }

  /// The record under `name`, and the version of the header that was current when it was read.
  ///
  /// - Throws: as ``header()``.
  package func lookup(
    _ name: NameHash
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) {
    let store = try opened().store
    let view = try perform { (connection, call) throws(BusFailure) in
      try store.view(of: name, connection, call)
    }
    return (view.record, view.version)
  }

  /// The names of all records.
  ///
  /// - Throws: as ``header()``.
  package func names() throws(StorageError) -> [NameHash] {
    let store = try opened().store
    return try perform { (connection, call) throws(BusFailure) in
      var names: Set<NameHash> = []
      try store.visit(connection, call, damaged: .empty) { _, name, _ in names.insert(name) }
      return Array(names)
    }
  }

  /// Lets `body` change the header, alone among all processes that use this library.
  ///
  /// - Throws: as ``header()``, or what `body` throws; the header is then unchanged, except with
  ///   the code `outcomeUnknown`.
  package func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    try requireWritable()
    let store = try opened().store
    return try alone { () throws(StorageError) in
      let (view, count) = try perform { (connection, call) throws(BusFailure) in
        let first = try store.view(of: nil, connection, call)
        let count = try store.count(connection, call)
        // A process that does not share the lock file may have made the store between the two
        // calls.
        let isMade = first.header == nil && count > 0
        return (isMade ? try store.view(of: nil, connection, call) : first, count)
      }
      let held = HeldRecords(isEmpty: count == 0) { (each) throws(StorageError) in
        try self.perform { (connection, call) throws(BusFailure) in
          // A damaged item, which any program can write, must not block the replacement of a key.
          try store.visit(connection, call, damaged: .empty) { _, name, record in
            each(name, record)
          }
        }
      }
      var header = view.header
      try body(&header, held)
      guard header != view.header else { return view.version }
      return try write(header: header, over: view.header, store)
    }
  }

  private func write(
    header: [UInt8]?, over expected: [UInt8]?, _ store: KeyringStore
  ) throws(StorageError) -> UInt64 {
    try perform { (connection, call) throws(BusFailure) in
      let before = try store.view(of: nil, connection, call)
      let attributes = store.item.headerAttributes
      // An earlier run of these steps may have written this header already.
      guard before.header != header else { return before.version }
      // A process that does not share the lock file, such as one in a sandbox, may have changed the
      // header.
      guard before.header == expected else {
        throw BusFailure(.busy, "another program changed the store's keys meanwhile; try again")
      }
      if let header {
        let collection: ObjectPath
        if let home = before.home {
          collection = home.collection
        } else {
          collection = try store.target(connection, call)
        }
        try store.put(
          SealedItem.secret(header: header), attributes, over: before.home?.header,
          in: collection, connection, call)
      } else if let home = before.home {
        try store.remove(home.header, attributes, in: home.collection, connection, call)
      }
      let after = try store.view(of: nil, connection, call)
      guard after.header == header else {
        throw BusFailure(
          .outcomeUnknown,
          "the keyring service accepted the store's header but now returns something else; open the store "
            + "again")
      }
      return after.version
    }
  }

  /// Makes one write if the header has the given version and all checks hold.
  ///
  /// - Throws: as ``header()``; `unsupported` for more than one write. Nothing is then changed,
  ///   except with the code `outcomeUnknown`.
  package func commit(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome {
    guard writes.count(where: { !$0.isCheck }) <= commitLimit else {
      throw StorageError(
        .unsupported, "the keyring has no transactions: write one key at a time, or use a vault")
    }
    if writes.contains(where: { !$0.isCheck }) { try requireWritable() }
    let opened = try opened()
    return try alone { () throws(StorageError) in
      var attempt = Attempt()
      let outcome = try perform { (connection, call) throws(BusFailure) in
        try commit(writes, headerVersion, opened.store, &attempt, connection, call)
      }
      if outcome == .committed {
        for write in writes where !write.isCheck {
          opened.following.tell(
            RecordChange(
              name: write.name, record: write.record, headerVersion: headerVersion))
        }
      }
      return outcome
    }
  }

  /// How far the steps of a commit have come; they start over when the service goes away.
  private struct Attempt {
    /// Whether the service may have made the write.
    var mayBeMade = false
  }

  private func commit(
    _ writes: [RecordWrite], _ headerVersion: UInt64, _ store: KeyringStore,
    _ attempt: inout Attempt, _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) -> CommitOutcome {
    var change: (write: RecordWrite, view: KeyringStore.View)?
    for write in writes {
      let view = try store.view(of: write.name, forWriting: true, connection, call)
      guard view.version == headerVersion else { return .headerChanged }
      // An earlier run of these steps may have made the write already; an equal record proves it,
      // since no two records are alike.
      if attempt.mayBeMade, !write.isCheck {
        if let record = write.record, view.record == record { continue }
        // The record is gone, by this removal or by another program's.
        if write.record == nil, view.record == nil, !write.isAllowed(over: nil) {
          throw BusFailure(
            .outcomeUnknown,
            "the keyring service stopped during the removal. The value is gone; it is unknown which program "
              + "removed it")
        }
      }
      guard write.isAllowed(over: view.record) else { return .conditionFailed }
      if !write.isCheck { change = (write, view) }
    }
    guard let (write, view) = change else { return .committed }
    let attributes = store.item.attributes(of: write.name)
    attempt.mayBeMade = true
    if let record = write.record {
      let collection: ObjectPath
      if let there = view.home?.collection ?? view.path?.collection {
        collection = there
      } else {
        collection = try store.target(connection, call)
      }
      try store.put(
        SealedItem.secret(record, of: write.name), attributes, over: view.path,
        in: collection, connection, call)
    } else if let path = view.path, let collection = path.collection {
      try store.remove(path, attributes, in: collection, connection, call)
    }
    return .committed
  }

  /// Removes all items of the store, whatever they contain, and the header last.
  ///
  /// - Throws: as ``header()``; a part of the items may then be gone.
  package func discard() throws(StorageError) {
    try requireWritable()
    let opened = try opened()
    try alone { () throws(StorageError) in
      try perform { (connection, call) throws(BusFailure) in
        try opened.store.removeAll(connection, call)
      }
      opened.following.tellOfDiscarding()
    }
  }

  // MARK: - Changes

  /// Calls `observer` for each change, under a lock of the delegate.
  ///
  /// The first observer subscribes to the service's signals, which are taken as hints to look at an
  /// item again; so another program's change is reported once, however often a service signals it.
  /// While there is no bus or service, the delegate looks for them again after a second, then less
  /// often, at least once a minute. A record that can't be read is left out: the next reader gets
  /// the error.
  package func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation
  {
    do throws(StorageError) {
      return try opened().following.add(observer)
    } catch {
      return ChangeObservation {}
    }
  }
}
