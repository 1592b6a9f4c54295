internal import CryptoCore

extension SealedStore {
  /// How many records share a commit.
  private static let resealBatch = 64
  /// How many bytes of records share a commit.
  private static let resealBytes = 1 << 20

  /// Seals all records under the primary data key that are not, in small commits.
  ///
  /// - Returns: how many.
  func resealAll(
    in delegate: any KeysetDelegate, _ progress: ((Int, Int) -> Void)?
  ) throws(StorageError) -> Int {
    var count = 0
    var batch: [NameHash] = []
    var bytes = 0
    let names = try delegate.names()
    for (index, name) in names.enumerated() {
      bytes += try delegate.lookup(name).record?.count ?? 0
      batch.append(name)
      guard batch.count == min(Self.resealBatch, delegate.commitLimit) || bytes >= Self.resealBytes
      else { continue }
      count += try reseal(batch, in: delegate)
      (batch, bytes) = ([], 0)
      progress?(index + 1, names.count)
    }
    count += try reseal(batch, in: delegate)
    progress?(names.count, names.count)
    return count
  }

  /// Seals some records under the primary data key, but for those that are or can't be opened.
  ///
  /// - Returns: how many.
  private func reseal(
    _ names: [NameHash], in delegate: any KeysetDelegate
  ) throws(StorageError) -> Int {
    for _ in 0..<Self.attempts {
      guard let open = try keys.forReading() else { return 0 }
      guard let writes = try resealed(names, open, delegate) else { continue }
      guard !writes.isEmpty else { return 0 }
      switch try delegate.commit(writes, headerVersion: open.headerVersion) {
      case .committed: return writes.count
      case .conditionFailed where names.count > 1:
        // Somebody wrote to one of them: that one is sealed under the primary key already, or soon.
        var count = 0
        for name in names { count += try reseal([name], in: delegate) }
        return count
      case .conditionFailed: continue
      case .headerChanged: try keys.refresh()
      }
    }
    throw StorageError(.busy, "others wrote to a record all the time; try again")
  }

  /// The writes that seal records anew, or nil when the keys have to be looked at again first.
  private func resealed(
    _ names: [NameHash], _ open: OpenKeys, _ delegate: any KeysetDelegate
  ) throws(StorageError) -> [RecordWrite]? {
    var writes: [RecordWrite] = []
    for name in names {
      let (found, version) = try delegate.lookup(name)
      guard version == open.headerVersion else {
        try keys.refresh()
        return nil
      }
      guard let record = found,
        let header = Self.header(of: record), header.keyID != open.primary.id
      else { continue }
      let context = RecordContext(store: open.store, name: name, authenticationTag: tag)
      guard var payload = openIfPossible(record, context, open) else { continue }
      defer { Wipe.bytes(&payload) }
      guard let resealed = try seal(payload, context, open, "") else { return nil }
      writes.append(RecordWrite(resealed, for: name, if: .equals(record)))
    }
    return writes
  }

  /// The header of a record, or nil when it is damaged: such a record stays as it is.
  static func header(of record: [UInt8]) -> RecordHeader? {
    do throws(CryptoError) {
      return try unsafe RecordHeader(reading: record.span.bytes)
    } catch {
      return nil
    }
  }

  /// The payload of a record, or nil when it can't be opened: it is counted as remaining.
  private func openIfPossible(
    _ record: [UInt8], _ context: RecordContext, _ open: OpenKeys
  ) -> [UInt8]? {
    do throws(StorageError) {
      let sealed = Sealed(record: record, keys: open, context: context)
      var payload: [UInt8] = []
      try self.open(sealed, nil) { (bytes) throws(StorageError) in payload = bytes.copied() }
      return payload
    } catch {
      return nil
    }
  }
}

extension StoreKeys {
  /// Drops the data keys that no record names, alone among all writers.
  ///
  /// - Returns: how many records are not under the primary key.
  func dropUnusedDataKeys() throws(StorageError) -> Int {
    var remaining = 0
    try update { (draft, records) throws(StorageError) in
      let keyset = draft.keyset
      var used: Set<UInt32> = [keyset.primaryID]
      var hasUnknown = false
      remaining = 0
      try records.visit { _, record in
        guard let recordHeader = SealedStore.header(of: record) else {
          hasUnknown = true
          remaining += 1
          return
        }
        used.insert(recordHeader.keyID)
        if recordHeader.keyID != keyset.primaryID { remaining += 1 }
      }
      // A damaged header may have named any key: then all are kept.
      guard !hasUnknown, keyset.entries.contains(where: { !used.contains($0.id) }) else { return }
      draft.keyset.entries.removeAll { !used.contains($0.id) }
    }
    return remaining
  }
}
