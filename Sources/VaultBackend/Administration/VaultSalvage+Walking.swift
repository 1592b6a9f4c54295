internal import CryptoCore
internal import StorageCore

extension VaultSalvage {
  /// A file that is longer is not walked: all of it is in memory then.
  private static let walkLimit = 1 << 30

  /// Takes the records that neither the table's tree nor the index led to, from the pages that have them.
  ///
  /// - Parameters:
  ///   - isTreeWhole: whether the tree could be read to its end: then what it leaves out is taken only where
  ///     the manifest proves that it belongs there.
  ///   - take: is handed each record.
  /// - Throws: what `take` throws, or `StorageError` for what says nothing about the records.
  mutating func walk(isTreeWhole: Bool, _ take: Taking) throws(StorageError) {
    var found: FileImage?
    let isReadable = try Self.skippingDamage { () throws(StorageError) in
      found = try source.image(atMost: Self.walkLimit)
    }
    guard isReadable else { return }
    guard let image = found else {
      return StorageDiagnostics.report(
        StorageError(
          .unsupported,
          "the file is larger than 1 GiB, so its pages were not searched for records that its tree does "
            + "not reach",
          path: source.path))
    }
    guard var walker = PageWalker(image), let keys = opener.manifestKeys else { return }
    let choice = try choice(in: &walker, keys)
    guard !choice.isEmpty else { return }
    let told = try Self.manifest(of: source, keys)
    var known = [RowChoice.Sum](repeating: RowChoice.Sum(), count: Manifest.bucketCount)
    for (key, share) in shares where !choice.hasOpened(key) {
      known[Manifest.bucket(of: key.name)].count += 1
      known[Manifest.bucket(of: key.name)].sum &+= share
    }
    // Chains that were followed to find the rows are followed once more, for those that are taken.
    walker.forgetUses()
    for (candidate, isProven) in choice.settled(
      by: told, besides: known, isProofNeeded: isTreeWhole)
    {
      guard let record = walker.record(of: candidate.row) else { continue }
      guard candidate.opens else {
        try keep(closed: record, candidate.name, take)
        continue
      }
      try keep(record, candidate.name, take)
      walked += 1
      if !isProven { unproven += 1 }
    }
  }

  /// The rows of all pages that were not taken yet.
  private func choice(
    in walker: inout PageWalker, _ keys: ManifestKeys
  ) throws(StorageError) -> RowChoice {
    var choice = RowChoice()
    var found: [PageWalker.Row] = []
    try walker.visit { (row) throws(StorageError) in
      if row.recordCount == nil {
        choice.add(removal: row)
      } else if row.isFree || !rows.contains(row.sequence) {
        // What the tree led to was offered already, under all of its names.
        found.append(row)
      }
    }
    for row in found {
      guard !opened.contains(NameKey(row.name)), let record = walker.record(of: row) else {
        continue
      }
      let names = ([row.name] + indexNames(of: row.sequence).filter { $0 != row.name })
        .filter { !opened.contains(NameKey($0)) }
      var opening: NameHash?
      for name in names where opening == nil {
        if try opener.opens(record, under: name) { opening = name }
      }
      for name in opening.map({ [$0] }) ?? names {
        // The tree's own, which does not open either, is as good.
        if opening == nil, closed.contains(NameKey(name)) { continue }
        choice.add(
          RowChoice.Candidate(
            row: row, name: name, share: try RecordShare(of: record, name, keys).bucket,
            opens: opening != nil))
      }
    }
    return choice
  }
}
