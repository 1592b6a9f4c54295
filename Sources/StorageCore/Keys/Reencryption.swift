internal import CryptoCore

extension SealedStore {
  /// Seals one record under the primary data key, unless it is or can't be opened.
  ///
  /// - Returns: whether it was.
  func reseal(_ name: NameHash, in delegate: any KeysetDelegate) throws(StorageError) -> Bool {
    for _ in 0..<Self.attempts {
      guard let open = try keys.forReading() else { return false }
      let (found, version) = try delegate.lookup(name)
      guard version == open.headerVersion else {
        try keys.refresh()
        continue
      }
      guard let record = found,
        let header = Self.header(of: record), header.keyID != open.primary.id
      else { return false }
      let context = RecordContext(store: open.store, name: name, authenticationTag: tag)
      guard var payload = openIfPossible(record, context, open) else { return false }
      defer { Wipe.bytes(&payload) }
      guard let resealed = try seal(payload, context, open, "") else { continue }
      let write = RecordWrite(resealed, for: name, if: .equals(record))
      switch try delegate.commit(write, headerVersion: open.headerVersion) {
      case .committed: return true
      case .conditionFailed: continue
      case .headerChanged: try keys.refresh()
      }
    }
    throw StorageError(.busy, "others wrote to a record all the time; try again")
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
