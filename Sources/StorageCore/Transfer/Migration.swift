internal import CryptoCore

/// Copies records from one store to another in batches: copies, reads back, removes.
struct Migration {
  /// A record of the source.
  struct Item {
    let hash: NameHash
    let record: [UInt8]
    let key: StoreKey
    let payload: PlainPayload
  }

  /// How many names, and about how many bytes, one commit copies.
  private static let batchLimit = (names: 256, bytes: 1 << 20)

  let source: SealedStore
  let destination: SealedStore
  let policy: MigrationConflictPolicy
  let removes: Bool
  /// What the names of values begin with that stay where they are.
  private let ownPrefixes: [String]
  private(set) var report = MigrationReport()
  /// Names under which no record was found.
  ///
  /// A record that was removed meanwhile needs no migration.
  private var absent: [NameHash] = []

  init(
    source: SealedStore, destination: SealedStore, policy: MigrationConflictPolicy, removes: Bool
  ) {
    self.source = source
    self.destination = destination
    self.policy = policy
    self.removes = removes
    ownPrefixes = [source.place, destination.place].compactMap {
      ($0 as? any KeepsOwnValues)?.ownPrefix
    }
  }

  /// Migrates all records that the source lists now.
  mutating func run(progress: ((Int, Int) -> Void)?) throws(StorageError) {
    guard !removes || source.keys.hasHeader else {
      throw StorageError(
        .unsupported,
        "the source's delegate can't compare and remove in one step, so a value saved meanwhile "
          + "could be lost; migrate without removing, then remove the values while nobody writes")
    }
    guard source !== destination else { throw Self.sameStore }
    guard try source.keys.forReading() != nil else { return }
    let census = try source.census()
    let names = census.names
    var done = 0
    while done < names.count {
      let batch = try read(names, from: &done)
      try requireTwoStores()
      try remove(verified(copied(batch)))
      progress?(done, names.count)
    }
    // A source with records that another name leads to must be repaired before they can be removed.
    report.unreadable += census.missing + (try source.misnamedCount(among: absent))
  }

  /// Refuses to copy a store onto itself: it has every value already, and would lose it.
  private func requireTwoStores() throws(StorageError) {
    // Without a header, the identity of a store tells only which key it has.
    guard source.keys.hasHeader, let from = try source.keys.forReading(),
      let to = try destination.keys.forReading(), from.store == to.store
    else { return }
    throw Self.sameStore
  }

  private static let sameStore = StorageError(
    .invalid, "the source and the destination are the same store")

  // MARK: - Reading

  /// Reads and opens the next records.
  private mutating func read(
    _ names: [NameHash], from position: inout Int
  ) throws(StorageError) -> [Item] {
    var items: [Item] = []
    var bytes = 0
    let most = min(Self.batchLimit.names, max(destination.place.commitLimit, 1))
    let end = min(names.count, position + most)
    while position < end, bytes < Self.batchLimit.bytes {
      let name = names[position]
      if let sealed = try source.fetch(name) {
        if let item = try open(sealed, name) {
          guard !ownPrefixes.contains(where: { item.key.hasPrefix($0) }) else {
            position += 1
            continue
          }
          bytes += item.record.count
          // A place that limits the bytes of a commit takes a record that is alone.
          guard items.isEmpty || bytes <= Self.batchLimit.bytes else { break }
          items.append(item)
        } else {
          report.unreadable += 1
        }
      } else {
        absent.append(name)
      }
      position += 1
    }
    return items
  }

  /// The record with its plaintext, or nil when the record can't be opened.
  private func open(
    _ sealed: SealedStore.Sealed, _ hash: NameHash
  ) throws(StorageError) -> Item? {
    do throws(StorageError) {
      var opened: (StoreKey, PlainPayload)?
      try source.open(sealed, nil) { (payload) throws(StorageError) in
        opened = (try Payload.name(payload), PlainPayload(payload))
      }
      guard let (key, payload) = opened,
        // Under the name of another record, the payload would not be found in the destination.
        try source.name(key).context(in: sealed.keys).name == hash
      else { return nil }
      return Item(hash: hash, record: sealed.record, key: key, payload: payload)
    } catch {
      guard error.cannotBeOpened else { throw error }
      return nil
    }
  }

  // MARK: - Copying

  private enum Outcome { case copied, alreadyThere, conflict }

  /// The items that the destination now holds, according to the results of the writes.
  private mutating func copied(
    _ items: [Item]
  ) throws(StorageError) -> [(item: Item, isNew: Bool)] {
    var outcomes: [Outcome] = []
    if destination.keys.hasHeader, destination.place.commitLimit >= items.count {
      let policy = policy
      outcomes = try destination.transaction {
        (transaction) throws(StorageError) in
        var outcomes: [Outcome] = []
        for item in items { outcomes.append(try Self.copy(item, in: transaction, policy)) }
        return outcomes
      }
    } else {
      for item in items { outcomes.append(try copyAlone(item)) }
    }
    var there: [(Item, Bool)] = []
    for (item, outcome) in zip(items, outcomes) {
      switch outcome {
      case .copied: there.append((item, true))
      case .alreadyThere: there.append((item, false))
      case .conflict: report.conflicts.append(item.key)
      }
    }
    return there
  }

  private static func copy(
    _ item: Item, in transaction: StorageTransaction, _ policy: MigrationConflictPolicy
  ) throws(StorageError) -> Outcome {
    // The look-up stays outside the `do`, because its errors concern the whole store.
    if try transaction.contains(item.key) {
      do throws(StorageError) {
        var isSame = false
        _ = try transaction.withPayload(item.key) { (payload) throws(StorageError) in
          isSame = item.payload.equals(payload)
        }
        if isSame { return .alreadyThere }
      } catch {
        guard error.cannotBeOpened else { throw error }
        return .conflict
      }
      guard policy == .replace else { return .conflict }
    }
    try transaction.write(item.payload, item.key)
    return .copied
  }

  /// Copies one item to a destination that can't commit several writes at once.
  private func copyAlone(_ item: Item) throws(StorageError) -> Outcome {
    let name = destination.name(item.key)
    for _ in Attempts() {
      guard let isSame = try compare(item, with: name) else {
        if try destination.commit(item.payload.bytes, name, if: .absent) { return .copied }
        continue  // another writer was first
      }
      switch isSame {
      case .same: return .alreadyThere
      case .other where policy == .replace:
        _ = try destination.commit(item.payload.bytes, name, if: .always)
        return .copied
      case .other, .unreadable: return .conflict
      }
    }
    throw StorageError(
      .busy, "others kept writing to the key; migrate again", key: item.key)
  }

  // MARK: - Reading back

  private enum Comparison { case same, other, unreadable }

  /// How the destination's value compares to an item's value; nil when there is none.
  private func compare(
    _ item: Item, with name: RecordName
  ) throws(StorageError) -> Comparison? {
    guard let sealed = try destination.fetch(name) else { return nil }
    do throws(StorageError) {
      var isSame = false
      try destination.open(sealed, item.key) { (payload) throws(StorageError) in
        isSame = item.payload.equals(payload)
      }
      return isSame ? .same : .other
    } catch {
      guard error.cannotBeOpened else { throw error }
      return .unreadable
    }
  }

  /// The items that the destination returns unchanged.
  private mutating func verified(
    _ items: [(item: Item, isNew: Bool)]
  ) throws(StorageError) -> [Item] {
    var verified: [Item] = []
    for (item, isNew) in items {
      switch try compare(item, with: destination.name(item.key)) {
      case .same:
        if isNew { report.copied += 1 } else { report.alreadyThere += 1 }
        verified.append(item)
      case .other:
        // Another writer has saved another value since.
        report.conflicts.append(item.key)
      case .unreadable, nil:
        throw StorageError(
          .io,
          "the value was copied, but can't be read back from the destination; the source still has "
            + "it. Find the cause, then migrate again", key: item.key)
      }
    }
    return verified
  }

  // MARK: - Removing

  /// Removes records from the source that are unchanged since they were copied.
  private mutating func remove(_ items: [Item]) throws(StorageError) {
    guard removes, !items.isEmpty else { return }
    let removals = items.map { RecordWrite(nil, for: $0.hash, if: .equals($0.record)) }
    if removals.count <= source.place.commitLimit, try commit(removals) {
      report.removed += removals.count
      return
    }
    for removal in removals where try commit([removal]) {
      report.removed += 1
    }
  }

  private func commit(_ removals: [RecordWrite]) throws(StorageError) -> Bool {
    for _ in Attempts() {
      // The place may need the keys of this version to keep its manifest in step.
      guard let open = try source.keys.refresh() else { return false }
      switch try source.place.commit(removals, headerVersion: open.headerVersion) {
      case .committed: return true
      case .conditionFailed: return false
      case .headerChanged: continue
      }
    }
    throw StorageError(
      .busy, "another program kept changing the source's keys; migrate again to finish")
  }
}

@available(*, unavailable)
extension Migration: Sendable {}

extension Migration: RedactedDescription {}

extension StorageError {
  /// Whether the record exists but can't be opened, now or later.
  fileprivate var cannotBeOpened: Bool { isOfRecord }
}
