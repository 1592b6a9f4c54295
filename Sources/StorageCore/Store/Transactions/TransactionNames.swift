internal import CryptoCore

/// The names that a transaction has used, with what it read and wrote.
///
/// A single struct, so that each call accesses one stored property: Swift checks every access to a
/// class property for exclusivity.
struct TransactionNames {
  private let store: SealedStore
  private let process = OwnProcess()
  /// In the order in which names were first used.
  private(set) var items: [TransactionItem] = []
  /// Positions by the bytes of the names.
  private var positions: [ExactString: Int] = [:]
  /// Names that were already hashed for recent transactions.
  private var recent: [ExactString: RecordName]
  /// Whether the transaction used a name that is not in `recent`.
  private var hasNew = false
  private var isOver = false

  init(_ store: SealedStore) {
    self.store = store
    recent = store.recentNames.all
  }

  /// Drops everything; every later use of a name throws `invalid`.
  mutating func end() {
    isOver = true
    recent = [:]
    if hasNew { store.recentNames.add(items.map(\.name)) }
    items = []
    positions = [:]
  }

  /// The index of a name's item; the first use of a name adds the item.
  mutating func position(of key: StoreKey) throws(StorageError) -> Int {
    guard !isOver else {
      throw StorageError(
        .invalid, "the transaction has ended; use it only inside the closure that received it",
        key: key)
    }
    try requireOwn(key)
    do throws(StorageError) {
      try Payload.check(name: key)
    } catch {
      throw error.about(key)
    }
    let bytes = ExactString(text: key)
    let next = items.count
    // A single dictionary look-up finds the position or sets it.
    let position = Self.read(&positions[bytes, default: next])
    guard position == next else { return position }
    let name = recent[bytes]
    if name == nil { hasNew = true }
    items.append(TransactionItem(name: name ?? store.name(key)))
    return position
  }

  /// Refuses to continue in a child of fork(2): the parent continues with the same transaction.
  func requireOwn(_ key: StoreKey? = nil) throws(StorageError) {
    try process.require("the transaction", key: key)
  }

  private static func read(_ position: inout Int) -> Int { position }

  /// Records what to write under a name.
  mutating func write(
    _ written: TransactionItem.Written, _ key: StoreKey
  ) throws(StorageError) {
    items[try position(of: key)].written = written
  }

  /// Records what the first read at a position found.
  mutating func see(_ seen: TransactionItem.Seen, _ position: Int) { items[position].seen = seen }
}

@available(*, unavailable)
extension TransactionNames: Sendable {}
