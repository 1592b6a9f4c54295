internal import CryptoCore
internal import StorageCore

extension Suite {
  /// Lets `body` change the header, as the only one among all processes and threads.
  ///
  /// All waits on the way share one deadline.
  func updateHeader(
    waiting deadline: Duration,
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    // A separate turn in the queue, because `body` belongs to the caller and runs on its thread.
    try queue.alone(waiting: deadline) { (end) throws(StorageError) in
      try withFileLock(waiting: end.remaining) { () throws(StorageError) in
        try updateHeader(body)
      }
    }
  }

  private func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    let base = try begin()
    var contents = base.contents
    let records = contents.records
    var changes: [RecordWrite] = []
    do throws(StorageError) {
      let held = HeldRecords(
        isEmpty: records.isEmpty,
        visiting: { (each) throws(StorageError) in
          for (name, record) in records { each(name, record) }
        },
        rewriting: { (rewrite) throws(StorageError) in
          changes = try Self.changes(of: records, rewrite)
        })
      try body(&contents.header, held)
    } catch {
      abandon()
      throw error
    }
    for change in changes { contents.records[change.name] = change.record }
    let isChanged = contents.header != base.contents.header || !changes.isEmpty
    try end(with: isChanged ? contents : nil, changes)
    return memory.withLock { $0.headerVersion }
  }

  /// The changes that replace the existing records, possibly under other names.
  private static func changes(
    of records: [NameHash: [UInt8]], _ rewrite: HeldRecords.Rewriting
  ) throws(StorageError) -> [RecordWrite] {
    var changes: [RecordWrite] = []
    for (name, record) in records {
      guard let (newName, newRecord) = try rewrite(name, record) else { continue }
      if newName != name { changes.append(RecordWrite(nil, for: name)) }
      changes.append(RecordWrite(newRecord, for: newName))
    }
    return changes
  }
}
