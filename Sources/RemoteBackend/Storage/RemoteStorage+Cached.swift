public import StorageCore

// `update` and `transaction` for callers who say how new the reads must be on which they decide.
extension RemoteStorage {
  /// As ``/StorageCore/Storage/transaction(deadline:_:)``, which compares all reads with the
  /// engine before the result or the error of `body` leaves it.
  ///
  /// - Parameters:
  ///   - deadline: how long `body` is run again when others write; nil for the configuration's.
  ///   - reading: with `.cached`, a body that throws or only reads costs no call: its outcome may rest
  ///     on values that another machine has replaced. What a body writes is always checked.
  ///   - body: reads and writes.
  /// - Returns: what the last run of `body` returned.
  /// - Throws: as ``/StorageCore/Storage/transaction(deadline:_:)``.
  @discardableResult
  public func transaction<Result>(
    deadline: Duration? = nil, reading: RemoteReading,
    _ body: (StorageTransaction) throws -> Result
  ) throws -> Result {
    try store.transaction(within: deadline, asksEngine: asksEngine(reading), body)
  }

  /// As ``/StorageCore/Storage/update(_:forKey:_:)``, which compares the value with the
  /// engine's before an error of `body` leaves it.
  ///
  /// - Parameters:
  ///   - type: the type of the value.
  ///   - key: the key.
  ///   - reading: with `.cached`, a body that throws costs no call: its error may rest on a value that
  ///     another machine has replaced.
  ///   - body: gets the value, or nil when there is none, and changes it.
  /// - Returns: what the last run of `body` returned.
  /// - Throws: as ``/StorageCore/Storage/update(_:forKey:_:)``.
  @discardableResult
  public func update<Value, Result>(
    _ type: Value.Type = Value.self, forKey key: StoreKey, reading: RemoteReading,
    _ body: (inout Value?) throws -> Result
  ) throws -> Result {
    try update(Value.self, forKey: key, asksEngine: asksEngine(reading), body)
  }

  private func asksEngine(_ reading: RemoteReading) throws(StorageError) -> Bool {
    switch reading.reading {
    case .cached: return false
    case .cachedFor(let most):
      let place = try delegate.place() as RemotePlace
      return place.age.map { $0 > most } ?? true
    case .linearizable: return true
    }
  }
}
