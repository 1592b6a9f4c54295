internal import CryptoCore
internal import Dispatch
internal import StorageCore

extension Suite {
  /// The delay before a failed flush is tried again.
  private static var retryInterval: Duration { .seconds(1) }

  /// Applies the writes in memory and schedules them to be written within `interval`.
  ///
  /// - Returns: nil when that is not safe, so that the caller must write at once: when a write is
  ///   conditional, because only the file decides whether the condition holds; when another process
  ///   changes the header; after a failed flush, so that the caller gets the next error; and in a
  ///   child of fork(2), which has no thread that would write them.
  func commitToMemory(
    _ writes: [RecordWrite], headerVersion: UInt64, within interval: Duration
  ) -> CommitOutcome? {
    guard process.isCurrent, writes.allSatisfy({ $0.condition == .always }), let lease = lease()
    else { return nil }
    let isWanted = lease.isWanted
    ExitFlush.register()
    var time: DispatchTime?
    let outcome = memory.withLock { memory -> CommitOutcome? in
      // The shared lock is held only while writes are pending.
      defer { if memory.pending.writes.isEmpty { memory.lease = nil } }
      guard memory.lease != nil, !isWanted, !memory.refusesLeases, !memory.pending.hasFailed
      else { return nil }
      guard memory.headerVersion == headerVersion else { return .headerChanged }
      // The queue still holds writes for an earlier file, and a new write would look like one of
      // them. An immediate write drops them first.
      guard !memory.hasForeignPending else { return nil }
      for write in writes {
        memory.pending.add(write, headerVersion: headerVersion)
        notify(write.name, write.record, memory)
      }
      time = memory.pending.plan(within: interval)
      return .committed
    }
    if let time { schedule(at: time) }
    return outcome
  }

  /// Takes a shared header lock, if this process has none, and reads the file under it.
  private func lease() -> HeaderLock? {
    if let lease = memory.withLock({ $0.lease }) { return lease }
    // If a step fails here, the immediate write fails as well and throws the reason.
    do throws(StorageError) {
      try prepareFolder()
      guard let lease = try HeaderLock.share(file.headerLockPath) else { return nil }
      return try withGate { () throws(StorageError) in
        memory.withLock { memory in
          guard !memory.refusesLeases else { return nil }
          if memory.lease == nil { memory.lease = lease }
          return memory.lease
        }
      }
    } catch {
      return nil
    }
  }

  private func schedule(at time: DispatchTime) {
    // The closure keeps the suite alive until its writes are in the file.
    background.asyncAfter(deadline: time) { [self] in
      memory.withLock { $0.pending.begin(planned: time) }
      flushInBackground()
    }
  }

  private func flushInBackground() {
    do throws(StorageError) {
      try writePending(waiting: DefaultsDelegate.standardDeadline)
    } catch {
      StorageDiagnostics.report(error)
      scheduleRetry()
    }
  }

  /// Has pending writes tried again soon after an attempt to write them failed.
  func scheduleRetry() {
    let time = memory.withLock { memory in
      memory.pending.writes.isEmpty ? nil : memory.pending.plan(within: Self.retryInterval)
    }
    if let time { schedule(at: time) }
  }

  /// Forgets the writes that wait, in a child of fork(2).
  ///
  /// The parent writes them itself, and here they might undo newer ones. The shared lock is the
  /// parent's as well.
  func leaveParentsWrites() {
    guard !process.isCurrent else { return }
    memory.withLock { memory in
      memory.pending.drop(upTo: memory.pending.sequence)
      memory.lease = nil
    }
  }

  /// Writes the pending writes, durably.
  ///
  /// - Throws: also `outcomeUnknown` when acknowledged writes had to be dropped, during this call
  ///   or since the last call that reported a loss.
  func flush(waiting deadline: Duration) throws(StorageError) {
    let losses = memory.withLock { $0.losses.count }
    try writePending(waiting: deadline)
    try memory.withLock { (memory) throws(StorageError) in
      defer { memory.losses.told = memory.losses.count }
      guard memory.losses.told == memory.losses.count, losses == memory.losses.count
      else { throw Self.foreign(file.path) }
    }
  }

  /// The error for dropped writes.
  static func foreign(_ path: String) -> StorageError {
    StorageError(
      .outcomeUnknown,
      "the file was removed or replaced while writes waited. They were sealed for the old file and "
        + "are lost; write them again", path: path)
  }
}

extension SuiteMemory {
  /// Drops pending writes that were sealed under another header than the file now has.
  ///
  /// The shared lock prevents other programs of this package from changing the header. This
  /// therefore happens only when somebody removes the file or restores an older one.
  ///
  /// - Returns: the names of the dropped writes.
  mutating func discardForeignPending() -> [NameHash] {
    guard hasForeignPending else { return [] }
    defer {
      losses.count += 1
      pending.drop(upTo: pending.sequence)
      lease = nil
    }
    return Array(pending.writes.keys)
  }
}
