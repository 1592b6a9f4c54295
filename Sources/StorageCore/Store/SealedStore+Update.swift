internal import CryptoCore

extension SealedStore {
  /// How long an update retries while others write.
  private static var updateDeadline: Duration { .seconds(30) }

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
    _ name: RecordName, _ coder: ValueCoder<Value>, _ body: (inout Value?) throws -> Result
  ) throws -> Result {
    try checkWrite(name, "update")
    let start = ContinuousClock.now
    while start.duration(to: .now) < Self.updateDeadline {
      let sealed = try fetch(name)
      var value: Value?
      if let sealed {
        do throws(StorageError) {
          try open(sealed, name.text) { (payload) throws(StorageError) in
            value = try coder.decode(payload)
          }
        } catch {
          failedReads.remember(name, error)
          throw error.about(name.text)
        }
      }
      let result = try Reentry.during(
        identity, "update of \(name.title)", dependsOn: name.isMeant(by:),
        { try body(&value) })
      let condition = sealed.map { RecordWrite.Condition.equals($0.record) } ?? .absent
      if try replace(with: value, name, coder, if: condition) { return result }
    }
    throw StorageError(
      .busy, "others kept writing to the key; \(Self.writingAdvice)", key: name.text)
  }

  private func replace<Value>(
    with value: Value?, _ name: RecordName, _ coder: ValueCoder<Value>,
    if condition: RecordWrite.Condition
  ) throws(StorageError) -> Bool {
    if let value { return try write(value, name, coder, if: condition) }
    if condition == .absent { return true }
    return try commit(nil, name, if: condition)
  }
}
