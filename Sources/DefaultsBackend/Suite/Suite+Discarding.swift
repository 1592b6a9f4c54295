internal import CryptoCore
internal import Glibc
internal import StorageCore

extension Suite {
  /// Removes the file, whatever it contains, as the only one among all processes and threads.
  ///
  /// One step removes the file: a process that is killed leaves the old suite or none.
  func discard(waiting deadline: Duration) throws(StorageError) {
    guard try file.isThereToDiscard() else { return try refresh() }
    try queue.alone(waiting: deadline) { (end) throws(StorageError) in
      try withoutPendingOfOwn { () throws(StorageError) in
        try Folder.requirePrivate(file.folder)
        let all = try HeaderLock.all(file.headerLockPath, waiting: end.remaining)
        let lock = try FileLock(file.lockPath, waiting: end.remaining)
        try file.discard()
        withExtendedLifetime(all) {}
        _ = consume lock
      }
    }
    try refresh()
    // Of a file that could not be read, the names are not known.
    if !observers.isEmpty { memory.withLock { _ in observers.notify(.unknown) } }
  }

  /// Runs `body` while this process has no pending writes; those that can't be written are lost
  /// with the file.
  private func withoutPendingOfOwn(
    _ body: () throws(StorageError) -> Void
  ) throws(StorageError) {
    memory.withLock { $0.refusesLeases = true }
    defer { memory.withLock { $0.refusesLeases = false } }
    leaveParentsWrites()
    if memory.withLock({ !$0.pending.writes.isEmpty }) {
      do throws(StorageError) {
        try withFileLock(waiting: .zero) { () throws(StorageError) in
          let base = try begin()
          try end(base, with: base.hasPending ? base.contents : nil, [])
        }
      } catch {
        memory.withLock { $0.dropPending() }
      }
    }
    try body()
  }
}

extension SuiteFile {
  /// Whether there is a file to discard; what it contains does not matter.
  ///
  /// - Throws: `denied` for a folder, a link, a device or another user's file.
  func isThereToDiscard() throws(StorageError) -> Bool {
    guard let status = try FileStatus.ofEntry(path) else { return false }
    guard status.isRegular else {
      throw StorageError(.denied, "the file is not a regular file; move it away", path: path)
    }
    guard status.owner == geteuid() else {
      throw StorageError(
        .denied, "the file belongs to another user: \(StorageError.ownerAdvice)", path: path)
    }
    return true
  }

  /// Removes the file and those beside it; the caller holds all locks.
  ///
  /// The locks go last: who waits for one sees that it is gone, and takes a new one.
  func discard() throws(StorageError) {
    guard let folder = try FolderDescriptor.open(folder) else { return }
    let name = FilePath.name(of: path)
    for file in [name + ".new", name] { try folder.remove(file) }
    do throws(StorageError) {
      try folder.synchronize()
    } catch {
      throw StorageError(.outcomeUnknown, error.message, path: path, number: error.number)
    }
    for lock in [headerLockPath, lockPath] { try folder.remove(FilePath.name(of: lock)) }
  }
}

extension SuiteMemory {
  /// Drops the writes that wait; the next flush reports the loss.
  fileprivate mutating func dropPending() {
    losses.count += 1
    pending.drop(upTo: pending.sequence)
    lease = nil
  }
}
