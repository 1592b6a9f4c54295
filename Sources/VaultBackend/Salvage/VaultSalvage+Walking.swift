internal import CryptoCore
internal import StorageCore

extension VaultSalvage {
  /// A longer file is not walked, because walking takes all of it into memory.
  private static let walkLimit = 1 << 30

  /// Compares the records that were taken, and others found on pages, with the manifest, bucket by
  /// bucket.
  ///
  /// - Parameters:
  ///   - isTreeWhole: whether the tree could be read to its end: a record that it leaves out is
  ///     then taken only if the manifest proves it.
  ///   - take: is handed each record that takes the place of another one, or of none.
  /// - Throws: what `take` throws, or `StorageError` for an error that is not about the records.
  mutating func settle(isTreeWhole: Bool, _ take: Taking) throws(StorageError) {
    guard let keys = opener.manifestKeys else { return }
    let told = try Self.manifest(of: source, keys)
    var choice = RowChoice()
    for (name, taken) in taken {
      choice.add(
        RowChoice.Candidate(
          name: name.name, sequence: taken.sequence, share: taken.share,
          clearName: taken.clearName, row: nil))
    }
    var walker = try walker()
    try walker?.addRows(to: &choice, keys, opener) { indexNames(of: $0) }
    // The search followed all chains; the chains of rows that are taken are followed once more.
    walker?.forgetUses()
    for settled in choice.settled(by: told, preferringTaken: isTreeWhole) {
      var isProven = settled.isProven
      if let candidate = settled.candidate {
        if let row = candidate.row {
          if let record = walker?.record(of: row) {
            try keep(
              record, settled.name, candidate.sequence, candidate.clearName, isWalked: true, take)
          } else {
            isProven = false
          }
        }
      } else {
        try drop(settled.name, take)
      }
      let key = NameKey(settled.name)
      if !isProven, taken[key] != nil { unproven.append(key) }
    }
  }

  /// Searches the pages; nil if they can't be searched.
  private func walker() throws(StorageError) -> PageWalker? {
    var found: FileImage?
    let isReadable = try Self.skippingDamage { () throws(StorageError) in
      found = try source.image(atMost: Self.walkLimit)
    }
    guard isReadable else { return nil }
    guard let image = found else {
      StorageDiagnostics.report(
        StorageError(
          .unsupported,
          "the file is larger than 1 GiB, so its pages were not searched for records that its tree does "
            + "not reach",
          path: source.path))
      return nil
    }
    return PageWalker(image)
  }
}

extension PageWalker {
  /// Adds the rows of all pages to a choice, except for records that it already has.
  fileprivate mutating func addRows(
    to choice: inout RowChoice, _ keys: ManifestKeys, _ opener: RecordOpener,
    _ indexNames: (Int64) -> [NameHash]
  ) throws(StorageError) {
    var found: [Row] = []
    visit { row in
      if row.recordCount == nil { choice.add(removal: row) } else { found.append(row) }
    }
    for row in found {
      guard let record = record(of: row) else { continue }
      var options: [(name: NameHash, share: UInt64)] = []
      for name in [row.name] + indexNames(row.sequence).filter({ $0 != row.name }) {
        options.append((name, try RecordShare(of: record, name, keys).bucket))
      }
      // Most rows are those that the tree led to, or copies of them.
      guard !options.contains(where: { choice.has($0.share, of: $0.name) }) else { continue }
      var clearName: String?
      for option in options where clearName == nil {
        clearName = try opener.clearName(of: record, under: option.name)
        if clearName != nil { options = [option] }
      }
      for option in options {
        choice.add(
          RowChoice.Candidate(
            name: option.name, sequence: row.sequence, share: option.share, clearName: clearName,
            row: row))
      }
    }
  }
}
