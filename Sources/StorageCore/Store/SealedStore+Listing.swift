package import CryptoCore

extension SealedStore {
  /// How long an update retries while others write.
  private static var updateDeadline: Duration { .seconds(30) }

  /// Reads the value, lets `body` change it, and writes it if nobody else wrote meanwhile;
  /// otherwise starts over.
  ///
  /// `body` runs outside every lock and may run several times.
  ///
  /// - Returns: what the last run of `body` returned.
  func update<Value, Result>(
    _ name: RecordName, _ coder: ValueCoder<Value>, _ body: (inout Value?) throws -> Result
  ) throws -> Result {
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
          unreadable.remember(name, error)
          throw error.about(name.text)
        }
      }
      let result = try body(&value)
      let condition = sealed.map { RecordWrite.Condition.equals($0.record) } ?? .absent
      if try replace(with: value, name, coder, if: condition) { return result }
    }
    throw StorageError(
      .busy, "others kept writing to the key; try again", key: name.text)
  }

  private func replace<Value>(
    with value: Value?, _ name: RecordName, _ coder: ValueCoder<Value>,
    if condition: RecordWrite.Condition
  ) throws(StorageError) -> Bool {
    if let value { return try write(value, name, coder, if: condition) }
    if condition == .absent { return true }
    return try commit(nil, name, if: condition)
  }

  /// The clear names of all records that open, and the number of records that don't open or are
  /// missing.
  func listing() throws(StorageError) -> KeyListing {
    let delegate = try enumerable()
    guard try keys.forReading() != nil else { return KeyListing(keys: [], unreadable: 0) }
    let census = try census(of: delegate)
    var names: [String] = []
    var unreadable = census.missing
    var absent: [NameHash] = []
    for hash in census.names {
      guard let sealed = try fetch(hash, in: delegate) else {
        absent.append(hash)
        continue
      }
      if try !appendName(of: sealed, to: &names) { unreadable += 1 }
    }
    for stray in try strays(among: absent, in: delegate) {
      guard let stray, let sealed = try fetch(stray, in: delegate),
        try appendName(of: sealed, to: &names)
      else {
        unreadable += 1
        continue
      }
    }
    return KeyListing(keys: names, unreadable: unreadable)
  }

  /// The clear names of the given records that exist, and the number of those that don't open.
  package func listing(of hashes: [NameHash]) throws(StorageError) -> KeyListing {
    let delegate = try enumerable()
    var names: [String] = []
    var unreadable = 0
    for hash in hashes {
      guard let sealed = try fetch(hash, in: delegate) else { continue }
      if try !appendName(of: sealed, to: &names) { unreadable += 1 }
    }
    return KeyListing(keys: names, unreadable: unreadable)
  }

  /// - Returns: whether the record opens.
  private func appendName(
    of sealed: Sealed, to names: inout [String]
  ) throws(StorageError) -> Bool {
    do throws(StorageError) {
      try open(sealed, nil) { (payload) throws(StorageError) in
        names.append(try Payload.name(payload))
      }
      return true
    } catch {
      guard [.damaged, .unsupported].contains(error.code) else { throw error }
      return false
    }
  }

  /// The record under a hash and the keys current at that moment; nil when there is no record.
  func fetch(
    _ hash: NameHash, in delegate: any EnumerableDelegate
  ) throws(StorageError) -> Sealed? {
    for _ in 0..<Self.attempts {
      guard let open = try keys.forReading() else { return nil }
      let context = RecordContext(store: open.store, name: hash, authenticationTag: tag)
      guard let keyed else {
        let record = try delegate.record(for: hash)
        return record.map { Sealed(record: $0, keys: open, context: context) }
      }
      let (record, version) = try keyed.lookup(hash)
      // Under another header the record may be sealed with a key that `open` lacks.
      if version == open.headerVersion {
        return record.map { Sealed(record: $0, keys: open, context: context) }
      }
      try keys.refresh()
    }
    throw StorageError(.busy, "another program kept changing the store's keys; try again")
  }

  /// Removes all records, including unreadable ones, in one commit where the delegate supports
  /// that.
  func removeAll() throws(StorageError) {
    try telling { () throws(StorageError) in try removeAllQuietly() }
  }

  /// Tells the store's watchers of a write of as many values as `body` returns, or why it failed.
  private func telling(_ body: () throws(StorageError) -> Int) throws(StorageError) {
    do throws(StorageError) {
      let count = try body()
      if count > 0 { events.tell(.wrote(count)) }
    } catch {
      events.tell(.failedToWrite(error.code))
      throw error
    }
  }

  private func removeAllQuietly() throws(StorageError) -> Int {
    guard let keyed else {
      let names = try enumerable().names()
      for name in names { _ = try writeDirectly(RecordWrite(nil, for: name)) }
      return names.count
    }
    var failures = 0
    while failures < Self.attempts {
      // A delegate may need open keys to keep its manifest in step; other delegates work without
      // keys. The version is read first, so that its keys are open when something is written for
      // it.
      let version = try keyed.header().version
      var refusal: StorageError?
      do throws(StorageError) { try keys.refresh() } catch { refusal = error }
      let names = try keyed.names()
      let removals = names.map { RecordWrite(nil, for: $0) }
      guard !removals.isEmpty else { return 0 }
      let strayCount = try strays(among: names, in: keyed).count
      guard strayCount == 0 else {
        throw StorageError(
          .damaged,
          "\(strayCount) of the records can't be removed, because their names are damaged; repair "
            + "the store first")
      }
      var rest = removals[...]
      do throws(StorageError) {
        while !rest.isEmpty {
          let batch = Array(rest.prefix(keyed.commitLimit))
          guard try keyed.commit(batch, headerVersion: version) == .committed else { break }
          rest = rest.dropFirst(batch.count)
        }
      } catch {
        throw refusal ?? error
      }
      if rest.isEmpty { return names.count }
      failures += 1
    }
    throw StorageError(.busy, "another program kept changing the store's keys; try again")
  }

  /// Stores each value whose name has none, in one commit where the delegate supports that.
  func writeWhereAbsent(
    _ values: [(RecordName, [UInt8])]
  ) throws(StorageError) {
    guard let keyed else {
      for (name, payload) in values { _ = try commit(payload, name, if: .absent) }
      return
    }
    try telling { () throws(StorageError) in try writeWhereAbsent(values, in: keyed) }
  }

  private func writeWhereAbsent(
    _ values: [(RecordName, [UInt8])], in keyed: any KeysetDelegate
  ) throws(StorageError) -> Int {
    var (failures, count) = (0, 0)
    while failures < Self.attempts {
      let open = try keys.forWriting()
      var writes: [RecordWrite] = []
      var isStale = false
      for (name, payload) in values where writes.count < keyed.commitLimit {
        let context = try name.context(in: open)
        guard try keyed.lookup(context.name).record == nil else { continue }
        guard let record = try seal(payload, context, open, name.text) else {
          isStale = true
          break
        }
        writes.append(RecordWrite(record, for: context.name, if: .absent))
      }
      if isStale { continue }
      if writes.isEmpty { return count }
      switch try keyed.commit(writes, headerVersion: open.headerVersion) {
      case .committed:
        count += writes.count
        if writes.count < keyed.commitLimit { return count }
      case .conditionFailed: failures += 1
      case .headerChanged:
        failures += 1
        try keys.refresh()
      }
    }
    throw StorageError(.busy, "others kept writing to the store; try again")
  }
}
