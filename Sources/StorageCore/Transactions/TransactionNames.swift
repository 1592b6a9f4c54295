/// What a transaction knows of all the names that it has used.
///
/// One value, so that a call of the transaction accesses it once: each access to a property of an
/// object is checked to be the only one.
struct TransactionNames {
  private let store: SealedStore
  /// In the order in which names were used first.
  private(set) var items: [TransactionItem] = []
  /// By the bytes of the names.
  private var positions: [NameBytes: Int] = [:]
  /// Names that were hashed already.
  private var recent: [NameBytes: RecordName]
  /// Whether one was used that is not among them.
  private var hasNew = false
  private var isOver = false

  init(_ store: SealedStore) {
    self.store = store
    recent = store.recentNames.all
  }

  /// Forgets everything, and refuses every name from now on.
  mutating func end() {
    isOver = true
    recent = [:]
    if hasNew { store.recentNames.add(items.map(\.name)) }
    items = []
    positions = [:]
  }

  /// The position of a name among the items, where it gets one at its first use.
  mutating func position(of key: StoreKey) throws(StorageError) -> Int {
    guard !isOver else {
      throw StorageError(
        .invalid, "the transaction is over; use a transaction only inside its closure",
        key: key)
    }
    do throws(StorageError) {
      try Payload.check(name: key)
    } catch {
      throw error.about(key)
    }
    let bytes = NameBytes(text: key)
    let next = items.count
    // One look-up that finds the position or sets it.
    let position = Self.read(&positions[bytes, default: next])
    guard position == next else { return position }
    let name = recent[bytes]
    if name == nil { hasNew = true }
    items.append(TransactionItem(name: name ?? store.name(key)))
    return position
  }

  private static func read(_ position: inout Int) -> Int { position }

  /// Says what is to be there under a name.
  mutating func write(
    _ written: TransactionItem.Written, _ key: StoreKey
  ) throws(StorageError) {
    items[try position(of: key)].written = written
  }

  /// Says what was there at a position at the first look.
  mutating func see(_ seen: TransactionItem.Seen, _ position: Int) { items[position].seen = seen }
}

@available(*, unavailable)
extension TransactionNames: Sendable {}
