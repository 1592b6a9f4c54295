internal import CryptoCore

/// The runs of a body that may run several times: how long they go on, and whether what it read
/// holds.
///
/// Where many machines share a store, a read may be answered from a memory that is behind another
/// machine's write. What a body makes of its reads leaves the call only when the engine has the same.
struct BodyRuns {
  private let store: SealedStore
  /// Where the engine is asked; nil where no read is behind, or where the caller takes that risk.
  private let asked: (any DistantPlace)?
  private let begin = MonotonicTime.now
  private let span: Int64
  /// What the engine had under some names at one moment of the call.
  private(set) var known: [ExactString: SealedStore.Sealed?] = [:]

  /// Runs `body`, which runs the caller's body; on a shared store no wait inside it ends later than
  /// the call may.
  ///
  /// - Parameters:
  ///   - store: the store.
  ///   - span: how long the caller's body is run again; nil for the usual time.
  ///   - asksEngine: whether reads from memory are compared with the engine.
  ///   - body: gets the runs.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws.
  static func during<Result>(
    _ store: SealedStore, _ span: Duration?, asksEngine: Bool,
    _ body: (inout BodyRuns) throws -> Result
  ) throws -> Result {
    let longest = store.distantPlace?.deadline
    var runs = BodyRuns(store, span ?? longest ?? .seconds(30), asksEngine: asksEngine)
    guard let longest else { return try body(&runs) }
    let end = runs.begin.later(by: max(longest, span ?? longest))
    return try CallLimit.$end.withValue(end) { try body(&runs) }
  }

  private init(_ store: SealedStore, _ span: Duration, asksEngine: Bool) {
    self.store = store
    asked = asksEngine ? store.distantPlace : nil
    let end = begin.later(by: span)
    // The last run's commit needs time for an answer, without which its outcome is not known.
    self.span = end.since(begin) / 10 * (asked == nil ? 10 : 9)
  }

  /// Whether the body may not run again.
  var isOver: Bool { MonotonicTime.now.since(begin) >= span }

  /// Whether the engine is asked before a result leaves the call.
  var asksEngine: Bool { asked != nil }

  /// The record of a name, or nil when there is none.
  func fetch(_ name: RecordName) throws(StorageError) -> SealedStore.Sealed? {
    if !known.isEmpty, let sealed = known[ExactString(text: name.text)] { return sealed }
    return try store.fetch(name)
  }

  /// Whether the engine has what was read; if not, the next run reads what it has.
  ///
  /// - Throws: `StorageError` when it can't be asked.
  mutating func holds(
    _ reads: [(name: RecordName, record: [UInt8]?)]
  ) throws(StorageError) -> Bool {
    // What was all read from the engine's answer was there at one moment.
    guard asked != nil, reads.contains(where: { known[ExactString(text: $0.name.text)] == nil })
    else { return true }
    try readAgain(reads.map(\.name))
    return reads.allSatisfy { known[ExactString(text: $0.name.text)]??.record == $0.record }
  }

  /// Lets the next run read what the engine has under some names now, at one moment.
  mutating func readAgain(_ names: [RecordName]) throws(StorageError) {
    guard let asked, !names.isEmpty else { return }
    known = try store.latest(names, at: asked)
  }
}

extension SealedStore {
  /// What a shared place has under some names at one moment.
  fileprivate func latest(
    _ names: [RecordName], at place: any DistantPlace
  ) throws(StorageError) -> [ExactString: Sealed?] {
    for _ in Attempts() {
      var found: [ExactString: Sealed?] = [:]
      guard let open = try keysForReading(names[0]) else {
        for name in names { found[ExactString(text: name.text)] = .some(nil) }
        return found
      }
      var contexts: [RecordContext] = []
      for name in names { contexts.append(try name.context(in: open)) }
      let (records, version) = try place.latest(contexts.map(\.name))
      guard version == open.headerVersion else {
        try keys.refresh()
        continue
      }
      for (index, name) in names.enumerated() {
        found[ExactString(text: name.text)] = records[index].map {
          Sealed(record: $0, keys: open, context: contexts[index])
        }
      }
      return found
    }
    throw Self.changing(names[0])
  }
}
