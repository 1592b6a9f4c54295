internal import CryptoCore

extension SealedStore {
  /// Advice for a body that was called again and again.
  static var writingAdvice: String {
    "try again, and see that the body waits for no thread or task that writes to it"
  }

  /// Reads the value, lets `body` change it, and writes it if nobody else wrote meanwhile;
  /// otherwise starts over.
  ///
  /// `body` runs outside every lock and may run several times.
  ///
  /// - Returns: what the last run of `body` returned.
  func update<Value, Result>(
    _ name: RecordName, _ coder: ValueCoder<Value>, asksEngine: Bool = true,
    _ body: (inout Value?) throws -> Result
  ) throws -> Result {
    try checkWrite(name, "update")
    return try BodyRuns.during(self, nil, asksEngine: asksEngine) { runs in
      repeat {
        let sealed = try runs.fetch(name)
        var value: Value?
        let outcome = Swift.Result<Result, any Error> {
          if let sealed { value = try decode(sealed, name, coder) }
          return try Reentry.during(
            identity, "update of \(name.title)", dependsOn: name.isMeant(by:),
            { try body(&value) })
        }
        if case .success = outcome, value != nil || sealed != nil {
          let condition = sealed.map { RecordWrite.Condition.equals($0.record) } ?? .absent
          if try replace(with: value, name, coder, if: condition) { return try outcome.get() }
          try runs.readAgain([name])
        } else if try runs.holds([(name, sealed?.record)]) {
          return try outcome.get()
        }
      } while !runs.isOver
      throw StorageError(
        .busy, "others kept writing to the key; \(Self.writingAdvice)", key: name.text)
    }
  }

  private func decode<Value>(
    _ sealed: Sealed, _ name: RecordName, _ coder: ValueCoder<Value>
  ) throws(StorageError) -> Value? {
    var value: Value?
    do throws(StorageError) {
      try open(sealed, name.text) { (payload) throws(StorageError) in
        value = try coder.decode(payload)
      }
    } catch {
      failedReads.remember(name, error)
      throw error.about(name.text)
    }
    return value
  }

  private func replace<Value>(
    with value: Value?, _ name: RecordName, _ coder: ValueCoder<Value>,
    if condition: RecordWrite.Condition
  ) throws(StorageError) -> Bool {
    if let value { return try write(value, name, coder, if: condition) }
    return try commit(nil, name, if: condition)
  }
}
