internal import CryptoCore

// The store decides: it takes a value first, and its notice is what changes memory.

extension LiveValue {
  /// Stores a value, or removes it when it is nil.
  ///
  /// By the store of the property, which may be another one of the same place. A value that can't be read
  /// is replaced if that `isDeliberate`.
  func write(_ value: Value, to store: SealedStore, isDeliberate: Bool) throws(StorageError) {
    for _ in 0..<1000 {
      let old = upToDate()
      // One that is of another type is never replaced: the type that was stored first stays.
      if let error = old.error {
        guard error.code != .typeMismatch else { throw Self.otherType(key) }
        if !isDeliberate {
          try hub.store.refuseToReplaceUnreadable(node.name)
          throw error
        }
      }
      guard value != absent else { return try remove(from: store) }
      // Where there is nothing, another type may come first.
      let condition = old.isAbsent ? RecordWrite.Condition.absent : .always
      let isWritten = try writing { () throws(StorageError) in
        try store.write(value, node.name, coder, if: condition)
      }
      if isWritten { return }
      node.note(.look)
    }
    throw StorageError(.busy, "other writers kept changing the key; try again", key: key)
  }

  private static func otherType(_ key: StoreKey) -> StorageError {
    StorageError(
      .typeMismatch,
      "the key already has a value of another type; nothing was changed. To store this type, call "
        + "remove() first",
      key: key)
  }

  /// Removes the value, whatever it is.
  func remove(from store: SealedStore) throws(StorageError) {
    try writing { () throws(StorageError) in try store.remove(node.name) }
  }

  /// Changes the value in one atomic step.
  func update<Result>(
    in store: SealedStore, _ body: (inout Value) throws -> Result
  ) throws -> Result {
    let result = try store.update(node.name, coder) { stored in
      var value = stored ?? absent
      let result = try body(&value)
      stored = value == absent ? nil : value
      return result
    }
    followWrite()
    return result
  }

  /// Runs `body`, which writes to the store, and brings memory up to date with it before it goes on.
  private func writing<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    // Also after an error: there may have been a notice all the same.
    defer { followWrite() }
    return try node.whileWriting(body)
  }

  private func followWrite() {
    hub.noteUnobservedWrite(node)
    settle()
  }
}
