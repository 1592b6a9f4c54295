internal import CryptoCore
package import StorageCore

// How a place changes records and its header.
extension RemotePlace {
  /// What a commit checks, or why it need not be tried.
  private enum Plan {
    case commit(RemoteCommit)
    case headerChanged
    /// A condition does not hold for what memory knows, which may be old.
    case conditionFailed
  }

  package func commit(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome {
    try requireWritable()
    let deadline = callDeadline()
    try prepare(by: deadline)
    try requireRoom(writes)
    let keys = [RowKey.header] + writes.map { .record($0.name) }
    var isFresh = false
    var attempt = 0
    repeat {
      options.pause(attempt)
      switch try plan(writes, headerVersion) {
      case .headerChanged: return .headerChanged
      case .conditionFailed where isFresh: return .conditionFailed
      case .conditionFailed: _ = try refresh(keys, by: deadline)
      case .commit(let commit):
        switch try make(commit, by: deadline) {
        case .committed: return .committed
        case .refused(let lane): try giveBack(lane, readingAgain: keys, by: deadline)
        }
      }
      isFresh = true
      attempt += 1
    } while !deadline.isOver
    throw StorageError(
      .busy, "others kept changing the same values; nothing was written. Try again",
      path: engine.title)
  }

  /// Makes a commit, and takes it in.
  private func make(
    _ commit: RemoteCommit, by deadline: Deadline
  ) throws(StorageError) -> RemoteWriter.Outcome {
    try memory.asking { () throws(StorageError) in
      let outcome = try follower.noting(engine) { () throws(StorageError) in
        try writer.commit(commit, by: deadline)
      }
      if case .committed(let mark) = outcome {
        memory.apply(
          commit.writes.map { Row($0.key, $0.value, version: mark) })
      }
      return outcome
    }
  }

  private func plan(
    _ writes: [RecordWrite], _ headerVersion: UInt64
  ) throws(StorageError) -> Plan {
    let (header, version) = try memory.header()
    guard version == headerVersion else { return .headerChanged }
    var commit = RemoteCommit(checks: [(.header, header == nil ? 0 : version)], writes: [])
    for write in writes {
      let key = RowKey.record(write.name)
      if write.condition != .always {
        let known = try memory.lookup(write.name).known
        guard write.isAllowed(over: known.record) else { return .conditionFailed }
        commit.checks.append((key, known.version))
      }
      if !write.isCheck { commit.writes.append((key, write.record)) }
    }
    return .commit(commit)
  }

  /// Refuses what no commit of the engine can take.
  private func requireRoom(_ writes: [RecordWrite]) throws(StorageError) {
    let limits = engine.limits
    try requireRoom(writes.count)
    // The name of a row, its prefix and the message around it.
    let bytes = writes.reduce(0) { $0 + ($1.record?.count ?? 0) + 512 }
    guard bytes <= limits.bytes else {
      throw StorageError(
        .invalid,
        "the values of one write are larger than the \(limits.bytes >> 10) KiB that this place takes; "
          + "keep large values in a sealed folder", path: engine.title)
    }
  }

  /// Refuses more names than one commit can check.
  func requireRoom(_ names: Int) throws(StorageError) {
    guard names <= commitLimit else {
      throw StorageError(
        .invalid,
        "a transaction over \(names) values is too large for this place, which takes \(commitLimit); use "
          + "smaller ones", path: engine.title)
    }
  }

  // MARK: The header

  /// Lets `body` change the header against the version that it saw.
  ///
  /// No other thread of this process runs a body meanwhile. Another process may change the header;
  /// `body` then runs again with what is there now.
  package func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    let deadline = callDeadline()
    try prepare(by: deadline)
    return try StorageDiagnostics.reportingAfterwards { () throws(StorageError) in
      try headerTurn.take(by: deadline, of: engine) { () throws(StorageError) in
        try updateHeader(by: deadline, body)
      }
    }
  }

  private func updateHeader(
    by deadline: Deadline, _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    var attempt = 0
    repeat {
      options.pause(attempt)
      _ = try refresh([.header], by: deadline)
      // Without a header all that is there counts, and not only what memory knows.
      if try memory.header().header == nil { try repair(by: deadline) }
      let (old, version) = try memory.header()
      var new = old
      let held = HeldRecords(isEmpty: try memory.isEmpty()) { (each) throws(StorageError) in
        try self.repair(by: deadline)
        for (name, record) in try self.memory.all().records { each(name, record) }
      }
      try body(&new, held)
      guard new != old else { return version }
      try requireWritable()
      let commit = RemoteCommit(
        checks: [(.header, old == nil ? 0 : version)], writes: [(.header, new)])
      switch try make(commit, by: deadline) {
      case .committed: return try memory.header().version
      case .refused(let lane): try giveBack(lane, readingAgain: [.header], by: deadline)
      }
      attempt += 1
    } while !deadline.isOver
    throw StorageError(
      .busy, "others kept changing the store's keys; nothing was changed. Try again",
      path: engine.title)
  }
}
