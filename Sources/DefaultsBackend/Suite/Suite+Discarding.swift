internal import CryptoCore
internal import StorageCore

extension Suite {
  /// Removes the file, whatever it contains, as the only one among all processes and threads.
  ///
  /// One step removes the file: a process that is killed leaves the old suite or none.
  func discard(waiting deadline: Duration) throws(StorageError) {
    guard try file.isThereToDiscard() else { return try refresh() }
    try queue.alone(waiting: deadline) { (end) throws(StorageError) in
      try Folder.requirePrivate(file.folder)
      let lock = try FileLock(file.lockPath, waiting: end.remaining)
      try file.discard()
      _ = consume lock
    }
    try refresh()
    // Of a file that could not be read, the names are not known.
    if !observers.isEmpty { memory.withLock { _ in observers.notify(.unknown) } }
  }
}

extension SuiteFile {
  /// Whether there is a file to discard; what it contains does not matter.
  ///
  /// - Throws: `denied` for a folder, a link, a device or another user's file.
  func isThereToDiscard() throws(StorageError) -> Bool {
    guard let status = try FileStatus.ofEntry(path) else { return false }
    try requireOurs(status)
    return true
  }

  /// Removes the file and those beside it; the caller holds the lock.
  ///
  /// The lock goes last: who waits for it sees that it is gone, and takes a new one.
  func discard() throws(StorageError) {
    guard let folder = try FolderDescriptor.open(folder) else { return }
    let name = FilePath.name(of: path)
    for file in [name + ".new", name] { try folder.remove(file) }
    do throws(StorageError) {
      try folder.synchronize()
    } catch {
      throw StorageError(.outcomeUnknown, error.message, path: path, number: error.number)
    }
    try folder.remove(FilePath.name(of: lockPath))
  }
}
