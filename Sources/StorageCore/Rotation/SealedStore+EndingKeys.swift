internal import CryptoCore

/// The records under old data keys, counted to decide which data keys end.
private struct OldRecords {
  /// How many names are collected; further records are only counted, since their number has no
  /// limit.
  static let nameLimit = 1_000

  /// The number of records of each old data key.
  var counts: [UInt32: Int] = [:]
  /// The known key names of the records of each old data key.
  var names: [UInt32: [String]] = [:]
  private var nameCount = 0
  /// The number of records whose header is damaged; each may belong to any data key.
  var unknownCount = 0
  /// The error of a record that could not be read.
  var failure: StorageError?

  mutating func add(_ id: UInt32, _ name: () throws(StorageError) -> String?) {
    counts[id, default: 0] += 1
    guard nameCount < Self.nameLimit else { return }
    do throws(StorageError) {
      guard let name = try name() else { return }
      names[id, default: []].append(name)
      nameCount += 1
    } catch {
      failure = error
    }
  }
}

extension SealedStore {
  /// Drops the data keys that no record uses, and retires the keys in `ending`, while no one else
  /// writes.
  ///
  /// A key that no record uses is retired, and not dropped, unless the delegate proves that it has
  /// shown all records: a withheld record may come back tomorrow, and would then be lost.
  ///
  /// A pass over all records has sealed again all possible records of the keys in `ending`. Other
  /// keys that are ending belong to a rotation that began later, whose pass is not over.
  ///
  /// - Returns: how many records the pass has sealed again, and how many are left.
  func endDataKeys(
    _ ending: Set<UInt32>, reencrypted: Int
  ) throws(StorageError) -> ReencryptionReport {
    var report = ReencryptionReport(
      reencrypted: reencrypted, remaining: 0, setAside: 0, retiredKeyCount: 0, keys: [])
    try keys.update { (draft, records) throws(StorageError) in
      let old = try oldRecords(records, draft.keyset, ending)
      var entries: [Keyset.Entry] = []
      var isChanged = false
      var isProven: Bool?
      for var entry in draft.keyset.entries {
        // A record with a damaged header may need any key: then all keys are kept.
        let isNeeded =
          entry.id == draft.keyset.primaryID || old.counts[entry.id] != nil || old.unknownCount > 0
        let isOver = entry.state == .ending && ending.contains(entry.id)
        var isKept = isNeeded || entry.state == .ending && !isOver
        if isOver { entry.state = .retired }
        if !isKept {
          if isProven == nil { isProven = try records.areProvenComplete() }
          let mayDrop = isProven == true
          isKept = !mayDrop
          isChanged = isChanged || mayDrop || entry.state != .retired
          entry.state = .retired
        }
        if isKept { entries.append(entry) }
        isChanged = isChanged || isOver
      }
      if isChanged { draft.keyset.entries = entries }
      report = Self.report(reencrypted, old, draft.keyset)
    }
    return report
  }

  /// Drops the retired data keys that no listed record uses.
  ///
  /// - Returns: how many were dropped.
  func dropRetiredKeys() throws(StorageError) -> Int {
    var count = 0
    try keys.update { (draft, records) throws(StorageError) in
      let old = try oldRecords(records, draft.keyset, [])
      guard old.unknownCount == 0 else {
        throw StorageError(
          .damaged,
          "\(old.unknownCount) records can't be read, and may need any of the keys. Nothing was changed. "
            + "Restore or remove these records first")
      }
      let left = draft.keyset.entries.filter {
        $0.state != .retired || old.counts[$0.id] != nil
      }
      count = draft.keyset.entries.count - left.count
      if count > 0 { draft.keyset.entries = left }
    }
    return count
  }

  private func oldRecords(
    _ records: HeldRecords, _ keyset: Keyset, _ ending: Set<UInt32>
  ) throws(StorageError) -> OldRecords {
    let open = keys.current
    let enabled = Set(
      keyset.entries.filter { $0.state != .retired && !ending.contains($0.id) }.map(\.id))
    var old = OldRecords()
    try records.visit { hash, record in
      guard let id = Self.header(of: record)?.keyID else {
        old.unknownCount += 1
        return
      }
      guard id != keyset.primaryID else { return }
      old.add(id) { () throws(StorageError) in
        guard let open, !enabled.contains(id) else { return nil }
        return try clearName(of: record, under: hash, open, isReadmitting: true)
      }
    }
    if let failure = old.failure { throw failure }
    return old
  }

  private static func report(
    _ reencrypted: Int, _ old: OldRecords, _ keyset: Keyset
  ) -> ReencryptionReport {
    let enabled = Set(keyset.entries.filter { $0.state != .retired }.map(\.id))
    let remaining = old.counts.filter { enabled.contains($0.key) }.values.reduce(0, +)
    let all = old.counts.values.reduce(0, +)
    // Records with a damaged header count as records of the old keys, which were all kept for them.
    let isRetired = enabled.count == 1 && keyset.entries.contains { $0.state == .retired }
    return ReencryptionReport(
      reencrypted: reencrypted,
      remaining: remaining + (isRetired ? 0 : old.unknownCount),
      setAside: all - remaining + (isRetired ? old.unknownCount : 0),
      retiredKeyCount: keyset.entries.count { $0.state == .retired },
      keys: old.names.filter { !enabled.contains($0.key) }.values.flatMap { $0 }.sorted())
  }
}
