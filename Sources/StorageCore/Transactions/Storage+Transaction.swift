extension Storage {
  /// Reads and writes several values in one atomic step, across threads and processes.
  ///
  ///     try storage.transaction { transaction in
  ///       let amount = try transaction.load(Int.self, forKey: "amount") ?? 0
  ///       try transaction.update(Int.self, forKey: "from") { $0 = ($0 ?? 0) - amount }
  ///       try transaction.update(Int.self, forKey: "to") { $0 = ($0 ?? 0) + amount }
  ///     }
  ///
  /// What is written is written all at once or not at all, and only if everything that was read,
  /// also what was absent, is still so: as if nobody else had run meanwhile. That holds for one that
  /// only reads as well. No lock is held while `body` runs; when somebody else changed what it had
  /// read, it runs again, so let it have no effects but on its transaction. Until it has ended it may
  /// see values that were never there together: what comes of that is thrown away, an error too.
  ///
  /// Calls on the storage itself, or on a property, inside `body` are not part of the transaction:
  /// they take effect at once, don't see its writes, and one that changes what the transaction has
  /// read makes `body` run again. A transaction inside another is one of its own.
  ///
  /// - Parameters:
  ///   - deadline: how long `body` is run again after others' writes. It runs once at least, and one
  ///     that runs is not stopped.
  ///   - body: reads and writes through the ``StorageTransaction`` that it is given, which is of no
  ///     use when it has ended.
  /// - Returns: what `body` returned the last time.
  /// - Throws: what `body` throws, or `StorageError`: `busy` at the deadline, `unsupported` where the
  ///   delegate is no ``KeysetDelegate``. Nothing is then written, except with `outcomeUnknown`.
  @discardableResult
  public func transaction<Result>(
    deadline: Duration = .seconds(30), _ body: (StorageTransaction) throws -> Result
  ) throws -> Result {
    try store.transaction(within: deadline, body)
  }

  /// Stores many values at once, all or none of them; nil removes a value.
  ///
  ///     try storage.saveAll(["name": name, "age": 42, "user": user, "token": nil])
  ///
  /// Each is stored in the form of its own type, as ``save(_:forKey:)`` does: `load(Int.self, ...)`
  /// reads the `42`.
  ///
  /// - Parameter values: the values, of any types that can be stored. A stored value is replaced.
  /// - Throws: `StorageError`: `unsupported` where the delegate is no ``KeysetDelegate`` or for a type
  ///   that can't be stored, `invalid` for a key or a value that can't be. Nothing is then stored,
  ///   except with `outcomeUnknown`.
  public func saveAll(_ values: [StoreKey: Any?]) throws(StorageError) {
    try store.transaction(within: SealedStore.transactionDeadline) {
      (transaction) throws(StorageError) in
      for (key, value) in values { try transaction.saveOpened(value, forKey: key) }
    }
  }
}

extension StorageTransaction {
  /// Stores a value in the form of the type that it turns out to have.
  fileprivate func saveOpened(_ value: Any?, forKey key: StoreKey) throws(StorageError) {
    guard let value else { return try delete(forKey: key) }
    func save<Value>(_ value: Value) throws(StorageError) {
      try self.save(Optional(value), forKey: key)
    }
    try _openExistential(value, do: save)
  }
}
