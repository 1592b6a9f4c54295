internal import CryptoCore

// A write goes to the store first; the store's notice then updates memory.

extension LiveValue {
  /// Stores a value, or removes it when `value` equals `absent`.
  ///
  /// Writes to the property's own source, which may be another store of the same place. A value
  /// that can't be read is replaced only if `isDeliberate` is true.
  func write(
    _ value: Value, to target: any LiveSource<Value>, isDeliberate: Bool
  ) throws(StorageError) {
    // Checked first: the value may be readable again, but the new value may have been computed from
    // the default of the failed read.
    if !isDeliberate { try checkAssignment() }
    for _ in 0..<1000 {
      let old = upToDate()
      // A value of another type is never replaced: the type that was stored first stays.
      if let error = old.error {
        guard error.code != .typeMismatch else { throw Self.otherType(key) }
        if !isDeliberate {
          try checkAssignment()
          throw error
        }
      }
      guard value != absent else { return try remove(from: target) }
      // When there is no value, another writer may store another type first.
      let isWritten = try writing { () throws(StorageError) in
        try target.write(value, onlyIfAbsent: old.isAbsent)
      }
      if isWritten { return forgetDefault() }
      node.note(.look)
    }
    throw StorageError(.busy, "others keep writing to the key; try again", key: key)
  }

  private static func otherType(_ key: StoreKey) -> StorageError {
    StorageError(
      .typeMismatch,
      "the key holds a value of another type, which was stored first; nothing was changed. Call "
        + "remove() before you store this type",
      key: key)
  }

  /// Removes the value, whatever its type.
  func remove(from target: any LiveSource<Value>) throws(StorageError) {
    try writing { () throws(StorageError) in try target.save(nil) }
    forgetDefault()
  }

  /// Throws if an assignment may be computed from a default that a getter returned after a failure.
  private func checkAssignment() throws(StorageError) {
    try defaults.checkAssignment(to: key) { () throws(StorageError) in try source.contains() }
  }

  /// Changes the value in one atomic step.
  func update<Result>(
    in target: any LiveSource<Value>, _ body: (inout Value) throws -> Result
  ) throws -> Result {
    let result = try target.update { stored in
      var value = stored ?? absent
      let result = try body(&value)
      stored = value == absent ? nil : value
      return result
    }
    followWrite()
    forgetDefault()
    return result
  }

  /// Runs `body`, which writes to the store, then brings memory up to date before returning.
  private func writing<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    // Also after an error: the store may have sent a notice all the same.
    defer { followWrite() }
    return try node.whileWriting(body)
  }

  private func followWrite() {
    hub.noteUnobservedWrite(node)
    catchUp()
  }
}
