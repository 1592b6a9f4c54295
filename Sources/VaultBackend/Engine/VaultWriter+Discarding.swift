internal import CryptoCore
internal import StorageCore

extension VaultWriter {
  /// Removes the vault, whatever its file contains.
  ///
  /// First an empty vault takes its place, in one step: a process that is killed leaves the old
  /// vault or an empty one. Then the file goes, unless another process has it open.
  func discard(waiting deadline: Duration) throws(StorageError) {
    try empty(waiting: deadline, isMaking: false)
    try alone(waiting: deadline) { (_) throws(StorageError) in try removeIfUnused() }
  }

  /// Puts an empty vault in the place of this one, or nothing where nothing was.
  ///
  /// Where nobody else has the vault open, its file is replaced. Else its content is removed in a
  /// transaction, which the others see as any other change; they write to no file that is gone.
  func empty(waiting deadline: Duration, isMaking: Bool) throws(StorageError) {
    let isNews = try alone(waiting: deadline) { (end) throws(StorageError) in
      let folder = try vault.file.openForDiscarding()
      let isThere = try folder.map { (folder) throws(StorageError) in
        try vault.file.removeStrayLogs(in: folder)
      }
      if isThere == true {
        try replaceByEmpty(until: end)
      } else if isMaking {
        try vault.file.create()
      }
      try tellOfEmptying()
      return isThere == true
    }
    if isNews { vault.notice.post() }
  }

  private func replaceByEmpty(until end: ContinuousClock.Instant) throws(StorageError) {
    do throws(StorageError) {
      return try exchange(until: .now)
    } catch {
      guard error.code == .busy else { throw error }
    }
    do throws(StorageError) {
      try withTransaction(until: end, acceptingOlder: true) {
        (transaction: inout VaultTransaction) throws(StorageError) in
        try transaction.removeEverything()
      }
    } catch {
      // Of a broken file, one of a later version, and a full disk: the others have to let it go.
      guard [.damaged, .unsupported, .full].contains(error.code) else { throw error }
      try exchange(until: end)
    }
  }

  /// Exchanges the file, which nobody else may have open, for an empty vault.
  private func exchange(until end: ContinuousClock.Instant) throws(StorageError) {
    VaultRegistry.leave(vault.file, but: gate)
    try gate.withLock { (opened) throws(StorageError) in
      gate.leave(&opened)
      _ = try VaultCopy.make(vault.file, replacing: true, until: end) {
        (connection) throws(StorageError) in
        try VaultSchema.create(connection)
      }
    }
  }

  /// Removes the file of an empty vault, unless somebody has it open or has written to it.
  private func removeIfUnused() throws(StorageError) {
    guard let folder = try vault.file.openFolder(), try folder.contains(vault.file.name) else {
      return
    }
    VaultRegistry.leave(vault.file, but: gate)
    try gate.withLock { (opened) throws(StorageError) in
      gate.leave(&opened)
      do throws(StorageError) {
        let sole = try SoleUse(of: vault.file, until: .now)
        let connection = try Connection(vault.file.path, .immutable, until: .now)
        if try VaultRows.header(connection) == nil, try VaultRows.isEmpty(connection) {
          try vault.file.remove(from: folder)
        }
        _ = consume sole
      } catch {
        // The vault is empty, and stays where it is.
        guard error.code == .busy else { throw error }
      }
    }
  }

  private func tellOfEmptying() throws(StorageError) {
    try gate.withLock { (_) throws(StorageError) in gate.forget() }
    // Of a vault that could not be read, the names are not known.
    vault.memory.withLock { _ in vault.observers.notifyAll() }
  }
}

extension VaultTransaction {
  /// Removes all records, the header and the manifest, so that the vault is as a new one.
  fileprivate mutating func removeEverything() throws(StorageError) {
    try connection.statement("DELETE FROM record").run()
    try connection.statement("DELETE FROM meta WHERE id = 1").run()
    (keys, manifest) = (nil, nil)
    goOn()
    isWholesale = true
    isScrubNeeded = true
    try VaultRows.setMeta(VaultSchema.Row.manifest, [], sequence: sequence, connection)
  }
}
