internal import CryptoCore
internal import StorageCore

/// One store in the keyring, seen through a connection to the service.
///
/// Every method is a step of a call, which may start over.
struct KeyringStore {
  /// Where a store is.
  struct Home: Hashable {
    let collection: ObjectPath
    let header: ObjectPath
    /// The connection that found the store; KWallet's items have other paths after a restart.
    let connection: UInt64
  }

  /// What this process remembers about a store between calls.
  struct Memory {
    /// Nil until the header is found.
    var home: Home?
    var header: [UInt8]?
    /// Changes whenever the header does.
    var version: UInt64 = 1
    /// The last known paths of records at `home`, at most ``paths`` many: hints, which must be
    /// verified.
    var paths: [NameHash: ObjectPath] = [:]

    fileprivate static let paths = 1_000
  }

  let item: SealedItem
  /// The requested collection; nil for the one that the store is in, or the default one.
  let accessGroup: String?
  let memory: Lock<Memory>

  /// The place of the store, if a connection has found it.
  private func home(on connection: BusConnection) -> Home? {
    memory.withLock { $0.home?.connection == connection.number ? $0.home : nil }
  }

  /// The header, and the record that was read together with it.
  struct View {
    /// Nil while there is no store.
    let home: Home?
    let header: [UInt8]?
    let version: UInt64
    /// The record, or nil when there is none.
    let record: [UInt8]?
    /// The item that holds the record.
    let path: ObjectPath?
  }

  // MARK: - Reading

  /// The header, and the record of a name if one is given, read together.
  ///
  /// If both are still in their known places, one call reads the two secrets at once. If the record
  /// was not read before, or is to be written, a search comes first, which also finds a second item
  /// of its name.
  func view(
    of name: NameHash?, forWriting isForWriting: Bool = false, _ connection: BusConnection,
    _ call: Call
  ) throws(BusFailure) -> View {
    if !isForWriting, let home = home(on: connection),
      let view = try readAgain(name, at: home, connection, call)
    {
      return view
    }
    var isUnlocked = false
    for _ in 0..<3 {
      if let home = home(on: connection),
        let view = try read(name, at: home, isUnlocked: isUnlocked, connection, call)
      {
        return view
      }
      guard try findHome(connection, call) != nil else {
        return try viewWithoutHeader(of: name, connection, call)
      }
      isUnlocked = true
    }
    throw BusFailure(
      .busy, "the store's items keep changing during the search; try again")
  }

  /// Reads a record at its last known place; nil when it is not there.
  ///
  /// A secret names the record that it holds. An empty place proves nothing.
  private func readAgain(
    _ name: NameHash?, at home: Home, _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) -> View? {
    guard let name, let path = memory.withLock({ $0.paths[name] }) else { return nil }
    let secrets = try connection.secrets(of: [home.header, path], call)
    guard let headerSecret = secrets[home.header], let secret = secrets[path],
      case .header(let header) = SealedItem.content(of: headerSecret),
      case .record(let record, name) = SealedItem.content(of: secret)
    else {
      memory.withLock { $0.paths[name] = nil }
      return nil
    }
    return View(home: home, header: header, version: note(header), record: record, path: path)
  }

  /// Reads at a place that may no longer be the store's.
  ///
  /// `isUnlocked` says that the collection was just seen to be unlocked: then an empty item is
  /// damaged, and not locked. Nil when the place must be found anew first.
  private func read(
    _ name: NameHash?, at home: Home, isUnlocked: Bool, _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) -> View? {
    var path: ObjectPath?
    if let name {
      let paths: [ObjectPath]
      if isUnlocked {
        paths = try connection.find(item.attributes(of: name), in: home.collection, call)
      } else {
        // This takes one call and asks the user nothing: a locked item shows by its missing secret.
        do throws(BusFailure) {
          paths = try connection.search(item.attributes(of: name), in: home.collection, call)
        } catch {
          guard error.kind == .noObject else { throw error }
          return nil
        }
      }
      guard paths.count < 2 else { throw Self.duplicate("the value of one key") }
      path = paths.first
    }
    let secrets = try connection.secrets(of: [home.header] + (path.map { [$0] } ?? []), call)
    guard let headerSecret = secrets[home.header] else { return nil }
    guard case .header(let header) = SealedItem.content(of: headerSecret) else {
      guard isUnlocked else { return nil }
      throw try Self.unreadable(
        headerSecret, at: home.header,
        "the item of the store's header does not contain a header: another program may have changed it. It "
          + "was left unchanged; restore the keyring from a backup",
        connection, call)
    }
    let version = note(header)
    if let name, path == nil, !isUnlocked {
      // The header could be read, so the collection is unlocked now. It may have been locked during
      // the first search, which KeePassXC then answers with nothing: search again.
      let later = try connection.search(item.attributes(of: name), in: home.collection, call)
      guard later.isEmpty else { return nil }
    }
    guard let name, let path else {
      return View(home: home, header: header, version: version, record: nil, path: nil)
    }
    guard let secret = secrets[path] else { return nil }
    if case .nothing = SealedItem.content(of: secret), !isUnlocked { return nil }
    let record = try record(in: secret, of: name, at: path, connection, call)
    memory.withLock { memory in
      guard memory.home == home else { return }
      if memory.paths.count >= Memory.paths { memory.paths = [:] }
      memory.paths[name] = path
    }
    return View(home: home, header: header, version: version, record: record, path: path)
  }

  /// The view of a store that certainly has no header: no record either, unless somebody removed
  /// the header.
  private func viewWithoutHeader(
    of name: NameHash?, _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) -> View {
    let version = memory.withLock { $0.version }
    var (record, path): ([UInt8]?, ObjectPath?)
    if let name {
      let group = try group(connection, call)
      let paths = try connection.find(item.attributes(of: name), in: group, call)
      guard paths.count < 2 else { throw Self.duplicate("the value of one key") }
      if let first = paths.first, let secret = try connection.secrets(of: [first], call)[first] {
        record = try self.record(in: secret, of: name, at: first, connection, call)
        path = first
      }
    }
    return View(home: nil, header: nil, version: version, record: record, path: path)
  }

  private func record(
    in secret: ReceivedSecret, of name: NameHash, at path: ObjectPath,
    _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) -> [UInt8] {
    guard case .record(let record, name) = SealedItem.content(of: secret) else {
      throw try Self.unreadable(
        secret, at: path,
        "the item does not contain what the store wrote: another program may have changed it. It was left "
          + "unchanged; restore the keyring from a backup",
        connection, call)
    }
    return record
  }

  /// The error for an item without the store's content: locked or damaged.
  ///
  /// KWallet returns an empty secret for a locked item.
  private static func unreadable(
    _ secret: ReceivedSecret, at path: ObjectPath, _ message: String,
    _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) -> BusFailure {
    if secret.isEmpty, let collection = path.collection, try connection.isLocked(collection, call) {
      return BusConnection.staysLocked
    }
    return BusFailure(.damaged, message)
  }

  /// Finds the header, or makes sure that the store has none.
  ///
  /// - Returns: the place of the store; nil when there is none.
  @discardableResult
  private func findHome(
    _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) -> Home? {
    let group = try group(connection, call)
    let headers = try connection.find(
      item.headerAttributes, in: group, with: item.storeAttributes, call)
    guard headers.count < 2 else { throw Self.duplicate("the store's header") }
    guard let path = headers.first else {
      // "Absent" is believed only if the collection for a new store exists and is unlocked.
      let target = try connection.collection(named: accessGroup, call)
      try connection.ensureUnlocked(target, call)
      note(nil)
      return nil
    }
    guard let collection = path.collection else { throw BusConnection.malformed("SearchItems") }
    try connection.ensureUnlocked(collection, call)
    let home = Home(collection: collection, header: path, connection: connection.number)
    memory.withLock { memory in
      if memory.home != home { memory.paths = [:] }
      memory.home = home
    }
    return home
  }

  func group(
    _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) -> ObjectPath? {
    guard let accessGroup else { return nil }
    return try connection.collection(named: accessGroup, call)
  }

  /// Remembers a header that was read.
  ///
  /// - Returns: its version.
  @discardableResult
  func note(_ header: [UInt8]?) -> UInt64 {
    memory.withLock { memory in
      if header == nil {
        memory.home = nil
        memory.paths = [:]
      }
      if memory.header != header {
        memory.header = header
        memory.version += 1
      }
      return memory.version
    }
  }

  static func duplicate(_ what: String) -> BusFailure {
    BusFailure(
      .duplicate,
      "several keyring items claim to be \(what). Use a keyring program to remove all but the right one"
    )
  }

  /// The number of items besides the header, whatever they contain.
  func count(_ connection: BusConnection, _ call: Call) throws(BusFailure) -> Int {
    try records(connection, call).count
  }

  /// Goes through all records of the store, many for each call.
  ///
  /// `damaged` decides about items that have a record's attributes but contain no record; other
  /// foreign items are left out.
  func visit(
    _ connection: BusConnection, _ call: Call, damaged: DamagedItems,
    _ body: (ObjectPath, NameHash, [UInt8]) -> Void
  ) throws(BusFailure) {
    let paths = try records(connection, call)
    for start in stride(from: 0, to: paths.count, by: Self.visitedAtOnce) {
      let some = Array(paths[start..<min(start + Self.visitedAtOnce, paths.count)])
      let secrets = try connection.secrets(of: some, call)
      for path in some {
        guard let secret = secrets[path] else {
          // The service left it out: the item vanished meanwhile, or can't be read.
          guard try connection.snapshot(of: path, call) == nil else {
            throw BusConnection.staysLocked
          }
          if let collection = path.collection, try connection.isLocked(collection, call) {
            throw BusConnection.staysLocked
          }
          continue
        }
        if case .record(let record, let name) = SealedItem.content(of: secret) {
          body(path, name, record)
          continue
        }
        let failure = try Self.unreadable(
          secret, at: path,
          "an item of the store does not contain what the store wrote: another program may have changed "
            + "it. It was left unchanged; restore the keyring from a backup", connection, call)
        if failure.error.code == .damaged {
          guard damaged != .skipped, let there = try connection.snapshot(of: path, call),
            SealedItem.isRecord(there.attributes)
          else { continue }
          if let text = there.attributes["record"], let name = NameHash(hexadecimal: text) {
            body(path, name, [])
            continue
          }
        }
        throw failure
      }
    }
  }

  /// What to do with items whose content no store has written under their name.
  enum DamagedItems {
    case skipped
    /// They count as empty records of the name in their attributes.
    case empty
  }

  /// Few enough that the service's answer stays far below 64 MiB, at which a bus closes the
  /// connection.
  private static let visitedAtOnce = 32
  /// The longest secret of a store: a value of 1 MiB, and the bytes that sealing adds.
  private static let longestSecret = (1 << 20) + (1 << 16)

  /// The items of all records.
  private func records(
    _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) -> [ObjectPath] {
    let known = home(on: connection)
    let home = if let known { known } else { try findHome(connection, call) }
    let collection: ObjectPath?
    if let home { collection = home.collection } else { collection = try group(connection, call) }
    let items = try connection.find(item.storeAttributes, in: collection, call)
    // The header is searched after the items, and not at its known place: another process may have
    // made or moved it meanwhile.
    let headers = try connection.find(
      item.headerAttributes, in: collection, with: item.storeAttributes, call)
    return items.filter { !headers.contains($0) }
  }

  // MARK: - Writing

  /// Stores a record or the header, and replaces an existing item in one step.
  ///
  /// The item is found by `attributes`; `path` is the replaced item, nil when there is none.
  func put(
    _ secret: [UInt8], _ attributes: [String: String], over path: ObjectPath?,
    in collection: ObjectPath, _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) {
    guard secret.count <= Self.longestSecret else {
      throw BusFailure(
        .invalid, "a sealed value in the keyring has at most 1 MiB; keep larger values in a vault")
    }
    let encoded = try connection.encode(
      unsafe secret.span.bytes, contentType: SealedItem.contentType)
    let (made, wasPrompted) = try connection.createItem(
      in: collection, label: item.label, attributes: attributes, secret: encoded,
      replacing: path != nil, call)
    guard wasPrompted || made == .none else { return }
    // libsecret's documentation says that a store may seem to succeed after a dismissed prompt.
    let paths = try connection.find(attributes, in: collection, call)
    let secrets = try connection.secrets(of: paths, call)
    guard paths.count == 1, let there = secrets[paths[0]], there.copied == secret else {
      throw BusFailure(
        .outcomeUnknown,
        "the keyring service accepted the item but now returns something else; read the item again")
    }
  }

  /// The collection for a new store: the requested or the default one, unlocked.
  func target(_ connection: BusConnection, _ call: Call) throws(BusFailure) -> ObjectPath {
    let target = try connection.collection(named: accessGroup, call)
    try connection.ensureUnlocked(target, call)
    return target
  }

  /// Deletes an item, and checks by a search that it is gone.
  func remove(
    _ path: ObjectPath, _ attributes: [String: String], in collection: ObjectPath,
    _ connection: BusConnection, _ call: Call
  ) throws(BusFailure) {
    try connection.delete(path, call)
    let left = try connection.search(attributes, in: collection, call)
    // If the wallet is locked, KWallet forgets the item, but keeps its secret.
    guard !left.contains(path), try !connection.isLocked(collection, call) else {
      throw BusFailure(
        .outcomeUnknown,
        "the keyring service reported that the item was deleted, but the item still exists or the keyring "
          + "is locked; unlock the keyring and look at the item again")
    }
  }
}
