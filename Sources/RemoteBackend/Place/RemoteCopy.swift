internal import CryptoCore
internal import StorageCore
internal import Synchronization

internal import struct FoundationEssentials.Data

/// A copy of a store's rows on this machine, in another storage, which seals them again.
///
/// With it a program starts while the engine is away, and sees at its start that the engine has gone
/// back: a row of the engine is then older than the copy's.
final class RemoteCopy: Sendable {
  /// What the copy holds, of one moment.
  struct Contents: Sendable {
    /// The history of the engine.
    var history: String
    /// Up to which moment it has all changes.
    var mark: Mark
    /// When the engine was at that moment, or later, in seconds since 1970.
    var time: Int64
    /// A lane of this machine, as it was written last.
    var lane: Lane?
    /// The rows.
    var rows: [Row] = []
    /// The records that are no longer current.
    var past = PastRecords()
  }

  let storage: DelegatedStorage
  /// The name of the store, so that no other one's copy is taken for it.
  let place: String
  /// Whether the copy is there, and has what this process has taken for known.
  private let isMade = Atomic<Bool>(false)
  /// Removals that the copy remembers, since they are later than its moment: a process that does not
  /// know of them yet must not put the row back.
  private let removals = Lock<[RowKey: Mark]>([:])

  init(storage: DelegatedStorage, place: String) { (self.storage, self.place) = (storage, place) }

  private static let state: StoreKey = "state"
  private static let past: StoreKey = "past"

  /// What the copy holds; nil when nothing was kept yet.
  ///
  /// - Throws: `StorageError` when it can't be read, or is another store's.
  func load() throws(StorageError) -> Contents? {
    try explained { () throws(StorageError) in
      let snapshot = try storage.store.snapshot()
      guard let words = try snapshot.load([String].self, forKey: Self.state) else { return nil }
      var contents = try Self.contents(words, place)
      contents.past = PastRecords(
        Self.numbers(try snapshot.load(Data.self, forKey: Self.past) ?? Data()))
      var removed: [RowKey: Mark] = [:]
      for key in try storage.keys() where key != Self.state && key != Self.past {
        // Another program may have added it since.
        guard let bytes = try snapshot.load(Data.self, forKey: key) else { continue }
        guard let row = Self.row(key, bytes) else { throw Self.foreign() }
        if row.value == nil { removed[row.key] = row.version } else { contents.rows.append(row) }
      }
      removals.withLock { [removed] in $0 = removed }
      isMade.store(true, ordering: .releasing)
      return contents
    }
  }

  /// Removes what another process has kept up to a moment, before all rows of that moment are kept.
  private func clear(_ transaction: StorageTransaction, upTo mark: Mark) throws(StorageError) {
    for key in try storage.keys() where key != Self.state && key != Self.past {
      let bytes = try transaction.load(Data.self, forKey: key) ?? Data()
      if Self.version(of: bytes) <= mark { try transaction.delete(forKey: key) }
    }
  }

  /// Keeps changes, in one step with the moment that they lead to.
  ///
  /// - Returns: false when another process of this machine has kept a later moment.
  func save(_ changes: RemoteMemory.Changes, _ contents: Contents) throws(StorageError) -> Bool {
    let before = removals.withLock { $0 }
    var removed = before
    return try explained { () throws(StorageError) in
      let isFirst = !isMade.load(ordering: .acquiring)
      let isKept = try storage.store.transaction(
        within: .seconds(30),
        typed: { (transaction) throws(StorageError) in
          removed = before  // it may run again
          if let words = try transaction.load([String].self, forKey: Self.state) {
            let old = try Self.contents(words, place)
            guard old.mark <= contents.mark || old.history != contents.history else { return false }
            if isFirst { try clear(transaction, upTo: contents.mark) }
          } else if !isFirst {
            // One that is made anew now would lack what was kept before.
            throw StorageError(.unavailable, "it is gone; start the program again to have one")
          }
          for (key, change) in changes.rows {
            let name = Self.name(of: key)
            // Another process may have kept a later commit of its own.
            let kept = try transaction.load(Data.self, forKey: name)
            if let kept, Self.version(of: kept) > change.version { continue }
            let isLater = change.version > contents.mark
            removed[key] = change.row == nil && isLater ? change.version : nil
            let row = change.row ?? (isLater ? Row(key, nil, version: change.version) : nil)
            try transaction.save(row.map(Self.data), forKey: name)
          }
          for (key, version) in removed where version <= contents.mark {
            let name = Self.name(of: key)
            if let kept = try transaction.load(Data.self, forKey: name),
              Self.version(of: kept) == version
            {
              try transaction.delete(forKey: name)
            }
            removed[key] = nil
          }
          if !changes.rows.isEmpty {
            var past = PastRecords(
              Self.numbers(try transaction.load(Data.self, forKey: Self.past) ?? Data()))
            past.add(changes.past)
            try transaction.save(Self.data(past.all), forKey: Self.past)
          }
          try transaction.save(Self.words(contents, place), forKey: Self.state)
          return true
        })
      if isKept {
        isMade.store(true, ordering: .releasing)
        removals.withLock { [removed] in $0 = removed }
      }
      return isKept
    }
  }

  // MARK: Stored forms

  private static func words(_ contents: Contents, _ place: String) -> [String] {
    var words = ["1", place, contents.history, "\(contents.mark)", "\(contents.time)"]
    if let lane = contents.lane { words += [Hexadecimal.encode(lane.id.bytes), "\(lane.version)"] }
    return words
  }

  private static func contents(
    _ words: [String], _ place: String
  ) throws(StorageError) -> Contents {
    guard words.count == 5 || words.count == 7, words[0] == "1", let mark = Mark(words[3]),
      let time = Int64(words[4])
    else { throw foreign() }
    guard ExactString(text: words[1]) == ExactString(text: place) else {
      throw StorageError(.conflict, "it is the copy of the store \(words[1])")
    }
    var lane: Lane?
    if words.count == 7 {
      guard let id = Hexadecimal.decode(words[5]).flatMap({ LaneID($0) }),
        let version = Mark(words[6])
      else {
        throw foreign()
      }
      lane = Lane(id, version: version)
    }
    return Contents(history: words[2], mark: mark, time: time, lane: lane)
  }

  private static func name(of key: RowKey) -> StoreKey { StoreKey(Hexadecimal.encode(key.bytes)) }

  private static func data(_ row: Row) -> Data {
    unsafe withUnsafeBytes(of: row.version.bigEndian) { unsafe Data($0) } + (row.value ?? [])
  }

  private static func data(_ numbers: [UInt64]) -> Data {
    var data = Data(capacity: numbers.count * 8)
    for number in numbers {
      unsafe withUnsafeBytes(of: number.bigEndian) { unsafe data.append(contentsOf: $0) }
    }
    return data
  }

  private static func numbers(_ data: Data) -> [UInt64] {
    let bytes = Array(data)
    return stride(from: 0, to: bytes.count - bytes.count % 8, by: 8).map { start in
      bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }
  }

  private static func row(_ key: StoreKey, _ data: Data) -> Row? {
    guard data.count >= 8, let key = Hexadecimal.decode(key).flatMap({ RowKey($0) }) else {
      return nil
    }
    // Without a value it is a removal.
    return Row(key, data.count > 8 ? Array(data.dropFirst(8)) : nil, version: version(of: data))
  }

  private static func version(of data: Data) -> Mark {
    data.prefix(8).reduce(0) { $0 << 8 | Mark($1) }
  }

  // MARK: Errors

  private static func foreign() -> StorageError {
    StorageError(.damaged, "it holds what this program has not written")
  }

  /// Says of an error that it is the copy's.
  private func explained<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    do throws(StorageError) { return try body() } catch {
      throw StorageError(
        error.code,
        "the copy of the store on this machine can't be used: \(error.message). A copy that is removed "
          + "is made anew, but forgets how new the store was", path: error.path,
        number: error.number)
    }
  }
}
