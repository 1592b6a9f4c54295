internal import CryptoCore

// Writes values: seals a payload and commits it.
extension SealedStore {
  /// Seals a value and keeps it.
  ///
  /// - Returns: whether the condition held.
  @inlinable @discardableResult
  func write<Value>(
    _ value: Value, _ name: RecordName, _ coder: ValueCoder<Value>,
    if condition: RecordWrite.Condition = .always
  ) throws(StorageError) -> Bool {
    try writePayload(name, if: condition) { (payload) throws(StorageError) in
      try coder.append(value, &payload)
    }
  }

  /// Seals what `body` appends to a payload, and keeps it.
  ///
  /// Not generic, for the same reason as ``withPayload(_:_:)``.
  @usableFromInline
  func writePayload(
    _ name: RecordName, if condition: RecordWrite.Condition,
    _ body: (inout [UInt8]) throws(StorageError) -> Void
  ) throws(StorageError) -> Bool {
    do throws(StorageError) {
      var payload = try Payload.head(name: name.text)
      defer { Wipe.bytes(&payload) }
      try body(&payload)
      guard payload.count <= Payload.valueLimit else { throw Payload.tooLarge }
      let isWritten = try commit(payload, name, if: condition)
      if isWritten { failedReads.forget(name.text) }
      return isWritten
    } catch {
      throw error.about(name.text)
    }
  }

  /// Removes a value; does nothing when there is none.
  @usableFromInline
  func remove(_ name: RecordName) throws(StorageError) {
    do throws(StorageError) {
      guard try keysForReading(name) != nil else {
        _ = try Payload.head(name: name.text)
        return
      }
      _ = try commit(nil, name, if: .always)
      failedReads.forget(name.text)
    } catch {
      throw error.about(name.text)
    }
  }

  /// The payload of a value; the caller must wipe it.
  static func payload<Value>(
    _ value: Value, _ name: String, _ coder: ValueCoder<Value>
  ) throws(StorageError) -> [UInt8] {
    var payload = try Payload.head(name: name)
    do throws(StorageError) {
      try coder.append(value, &payload)
      guard payload.count <= Payload.valueLimit else { throw Payload.tooLarge }
      return payload
    } catch {
      Wipe.bytes(&payload)
      throw error
    }
  }

  /// Seals `payload`, or removes when it is nil, if the condition holds.
  func commit(
    _ payload: [UInt8]?, _ name: RecordName, if condition: RecordWrite.Condition
  ) throws(StorageError) -> Bool {
    do throws(StorageError) {
      try checkWrite(name, payload == nil ? "removal" : "save")
      let isCommitted = try commitQuietly(payload, name, if: condition)
      if isCommitted { events.tell(.wrote(1)) }
      return isCommitted
    } catch {
      events.tell(.failedToWrite(error.code))
      throw error
    }
  }

  private func commitQuietly(
    _ payload: [UInt8]?, _ name: RecordName, if condition: RecordWrite.Condition
  ) throws(StorageError) -> Bool {
    let isCommitted = try withCurrent(name) { (keys, context) throws(StorageError) -> Bool? in
      guard let payload, let record = try seal(payload, context, keys, name.text) else {
        return nil
      }
      let write = RecordWrite(record, for: context.name, if: condition)
      switch try place.commit(write, headerVersion: keys.headerVersion) {
      case .committed: return true
      case .conditionFailed: return false
      case .headerChanged: return nil
      }
    }
    if let isCommitted { return isCommitted }
    return try commitAfterOpening(payload, name, if: condition)
  }

  private func commitAfterOpening(
    _ payload: [UInt8]?, _ name: RecordName, if condition: RecordWrite.Condition
  ) throws(StorageError) -> Bool {
    for _ in Attempts() {
      let open = try keysForWriting(name)
      let context = try name.context(in: open)
      let write: RecordWrite
      if let payload {
        guard let record = try seal(payload, context, open, name.text) else { continue }
        write = RecordWrite(record, for: context.name, if: condition)
      } else {
        write = RecordWrite(nil, for: context.name, if: condition)
      }
      switch try place.commit(write, headerVersion: open.headerVersion) {
      case .committed: return true
      case .conditionFailed: return false
      case .headerChanged: try keys.refresh()
      }
    }
    throw Self.changing(name)
  }

  /// Throws `invalid` in another test than the one that owns the store, and inside a body of this
  /// thread that a write of `name` would break.
  ///
  /// `call` names the write in the error; a nil `name` means all names.
  @inline(__always)
  package func checkWrite(_ name: RecordName?, _ call: String) throws(StorageError) {
    if let owner = keys.owner { try owner.check() }
    try Reentry.checkWrite(
      to: identity, name?.text, name.map { "\(call) of \($0.title)" } ?? call)
  }

  /// The sealed payload, or nil when the keys must be read again first.
  @inline(__always)
  func seal(
    _ payload: [UInt8], _ context: RecordContext, _ open: OpenKeys, _ name: String
  ) throws(StorageError) -> [UInt8]? {
    guard open.takeSeal() else {
      try keys.reserveSeals()
      return nil
    }
    return try cryptography(key: name) { () throws(CryptoError) in
      try unsafe open.primary.seal(payload.span.bytes, for: context)
    }
  }

  /// Stores each value whose name has none, in one commit where the place can.
  func writeWhereAbsent(
    _ values: [(RecordName, [UInt8])]
  ) throws(StorageError) {
    for (name, _) in values { try checkWrite(name, "save") }
    try telling { () throws(StorageError) in try writeWhereAbsentQuietly(values) }
  }

  private func writeWhereAbsentQuietly(
    _ values: [(RecordName, [UInt8])]
  ) throws(StorageError) -> Int {
    var (attempts, count) = (Attempts(), 0)
    while true {
      let open = try keys.forWriting()
      var writes: [RecordWrite] = []
      var isStale = false
      for (name, payload) in values where writes.count < place.commitLimit {
        let context = try name.context(in: open)
        guard try place.lookup(context.name).record == nil else { continue }
        guard let record = try seal(payload, context, open, name.text) else {
          isStale = true
          break
        }
        writes.append(RecordWrite(record, for: context.name, if: .absent))
      }
      if isStale { continue }
      if writes.isEmpty { return count }
      switch try place.commit(writes, headerVersion: open.headerVersion) {
      case .committed:
        count += writes.count
        if writes.count < place.commitLimit { return count }
        continue
      case .conditionFailed: break
      case .headerChanged: try keys.refresh()
      }
      guard attempts.next() != nil else {
        throw StorageError(.busy, "others kept writing to the store; try again")
      }
    }
  }
}
