extension Storage {
  /// Reads and writes several values in one atomic step, across threads and processes.
  ///
  ///     try storage.transaction { transaction in
  ///       let amount = try transaction.load(Int.self, forKey: "amount") ?? 0
  ///       try transaction.update(Int.self, forKey: "from") { $0 = ($0 ?? 0) - amount }
  ///       try transaction.update(Int.self, forKey: "to") { $0 = ($0 ?? 0) + amount }
  ///     }
  ///
  /// All writes take effect together or not at all. They take effect only if everything that the
  /// transaction read is unchanged, including values that were absent, as if nobody else had run
  /// meanwhile. A transaction that only reads gets the same guarantee.
  ///
  /// No lock is held while `body` runs. If another thread or process changes something that `body`
  /// read, `body` runs again, so it should have no effects outside its transaction. Until it ends,
  /// `body` may see values that never existed together. The results of such a run are discarded,
  /// including an error that it throws.
  ///
  /// Calls inside `body` on the storage itself, or on a property, are not part of the transaction.
  /// They take effect at once and don't see its writes. If such a call changes something that the
  /// transaction has read, `body` runs again. A transaction inside another one is independent of
  /// it.
  ///
  /// On a store that many machines share, whatever `body` has read is compared with the engine before
  /// its result or its error leaves the call, also where nothing is written.
  ///
  /// - Parameters:
  ///   - deadline: how long `body` is run again when others write; nil for 30 s, on a shared store for
  ///     the time that its configuration gives a call. It runs at least once, and a running `body` is
  ///     not interrupted.
  ///   - body: reads and writes through the ``StorageTransaction`` that it gets. The transaction
  ///     can't be used after `body` has returned.
  /// - Returns: what the last run of `body` returned.
  /// - Throws: what `body` throws, or `StorageError`: `busy` at the deadline; `unsupported` where
  ///   the delegate is not a ``RecordPlace``. Nothing was then written, except after
  ///   `outcomeUnknown`.
  @discardableResult
  public func transaction<Result>(
    deadline: Duration? = nil, _ body: (StorageTransaction) throws -> Result
  ) throws -> Result {
    try store.transaction(within: deadline, body)
  }

  /// Stores many values in one atomic step, all or none; nil removes a value.
  ///
  ///     try storage.saveAll(["name": name, "age": 42, "user": user, "token": nil])
  ///
  /// Each value is stored in the form of its own type, as ``save(_:forKey:)`` does: `load(Int.self,
  /// ...)` reads the `42`.
  ///
  /// - Parameter values: the values, of any storable types. Existing values are replaced.
  /// - Throws: `StorageError`: `unsupported` where the delegate is not a ``RecordPlace``, or for
  ///   a type that can't be stored; `invalid` for an invalid key or value. Nothing was then stored,
  ///   except after `outcomeUnknown`.
  public func saveAll(_ values: [StoreKey: Any?]) throws(StorageError) {
    try store.transaction {
      (transaction) throws(StorageError) in
      for (key, value) in values { try transaction.saveOpened(value, forKey: key) }
    }
  }
}

extension StorageTransaction {
  /// Stores a value in the form of its dynamic type.
  fileprivate func saveOpened(_ value: Any?, forKey key: StoreKey) throws(StorageError) {
    guard let value else { return try delete(forKey: key) }
    func save<Value>(_ value: Value) throws(StorageError) {
      try self.save(Optional(value), forKey: key)
    }
    try _openExistential(value, do: save)
  }
}
