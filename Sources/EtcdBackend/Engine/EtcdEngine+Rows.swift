internal import CryptoCore
internal import RemoteBackend
internal import StorageCore

// The rows of a store, as questions to etcd.
extension EtcdEngine {
  /// A page that takes longer is followed by a smaller one.
  private static let longPage: Int64 = 500_000_000
  /// How many rows an answer has at most.
  ///
  /// etcd counts all rows for each page, so with pages of 1000 a list of 100,000 takes three times as
  /// long.
  private static let page = 5000

  private func name(_ key: RowKey) -> [UInt8] { first + key.bytes }

  /// The row of the store; nil for one that is none of this store's.
  func row(_ row: EtcdRow) -> Row? {
    guard row.key.starts(with: first), let key = RowKey(row.key.dropFirst(first.count)) else {
      return nil
    }
    return Row(key, Array(row.value), version: row.revision)
  }

  func history(by deadline: Deadline) throws(StorageError) -> String {
    let request = EtcdRequest.range(name(.header), keysOnly: true)
    let answer = try EtcdRange(call(Method.range, request, .read, by: deadline))
    return String(answer.header.cluster, radix: 16)
  }

  func read(
    _ keys: [RowKey], by deadline: Deadline
  ) throws(StorageError) -> (rows: [Row], mark: Mark) {
    let request = EtcdRequest.transaction(checks: [], success: keys.map { .range(key: name($0)) })
    let answer = try EtcdTransaction(call(Method.transaction, request, .read, by: deadline))
    guard answer.isDone, answer.ranges.count == keys.count else {
      throw StorageError(.damaged, "etcd's answer does not belong to the question", path: title)
    }
    let mark = answer.header.revision
    let rows = zip(keys, answer.ranges).map { key, range in
      range.rows.first.flatMap(row) ?? Row(key, nil, version: mark)
    }
    return (rows, mark)
  }

  func commit(
    _ commit: RemoteCommit, by deadline: Deadline
  ) throws(StorageError) -> Mark? {
    let request = EtcdRequest.transaction(
      checks: commit.checks.map { (name($0.key), $0.version) },
      success: commit.writes.map { key, value in
        value.map { .put(key: name(key), value: $0) } ?? .delete(key: name(key))
      },
      // A transaction that writes nothing is answered from an old state unless it reads.
      failure: [.range(key: name(.header))])
    let bytes = try call(Method.transaction, request, .write, by: deadline)
    do throws(StorageError) {
      let answer = try EtcdTransaction(bytes)
      return answer.isDone ? answer.header.revision : nil
    } catch {
      // Whoever answered nonsense may have made the commit.
      throw StorageError(.outcomeUnknown, error.message, path: title)
    }
  }

  func list(
    keysOnly: Bool, by deadline: Deadline, _ body: ([Row]) throws(StorageError) -> Void
  ) throws(StorageError) -> Moment {
    var limit = Self.page
    var from = first
    var revision: Mark = 0
    while true {
      let request = EtcdRequest.range(
        from, to: end, limit: limit, revision: revision, keysOnly: keysOnly)
      let begin = MonotonicTime.now
      let bytes: [UInt8]
      switch try ask(Method.range, request, .read, isPage: limit > 1, by: deadline) {
      case .done(let answer): bytes = answer
      case .tooSlow:
        limit = max(limit / 8, 1)
        continue
      case .tooLarge:
        guard limit > 1 else {
          throw StorageError(
            .damaged, "a row of the store is larger than any that this program writes", path: title)
        }
        limit = max(limit / 8, 1)
        continue
      }
      if MonotonicTime.now.since(begin) < Self.longPage { limit = min(limit * 2, Self.page) }
      let answer = try EtcdRange(bytes[...])
      if revision == 0 { revision = answer.header.revision }
      try body(answer.rows.compactMap(row))
      guard answer.hasMore, let last = answer.rows.last else {
        return Moment(complete: revision, latest: revision)
      }
      from = Array(last.key) + [0]
    }
  }

  func watch(
    from mark: Mark, _ tell: @escaping @Sendable (WatchSignal) -> Void
  ) -> ChangeObservation {
    let watch = EtcdWatch(engine: self, first: first, end: end, from: mark, tell)
    DetachedThread.start("sps-etcd") { watch.run() }
    return ChangeObservation { watch.stop() }
  }
}
