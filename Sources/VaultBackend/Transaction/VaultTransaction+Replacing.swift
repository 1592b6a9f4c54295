internal import CryptoCore
internal import StorageCore

extension VaultTransaction {
  /// Removes records at once; the caller must make the manifest anew.
  func drop(_ names: [NameHash]) throws(StorageError) {
    for name in names {
      try connection.statement("DELETE FROM record WHERE name = ?1").run(.blob(name.bytes))
    }
  }

  /// Copies all records and the header from another vault, whose keys are given.
  ///
  /// - Throws: `busy` when the source's records disagree with its manifest: they were verified
  ///   before, so somebody has changed them since, and a new manifest would hide that.
  mutating func replaceAll(
    with source: Connection, _ new: [UInt8], _ sourceKeys: ManifestKeys
  ) throws(StorageError) {
    let stored = try Manifest.stored(in: source, sourceKeys)
    try connection.statement("DELETE FROM record").run()
    goOn(beyond: stored.map { Int64(clamping: $0.generation) } ?? 0)
    let connection = connection
    var last = sequence
    try VaultRows.visit(source) { (name, record) throws(StorageError) in
      last += 1
      try VaultRows.set(record, for: name, sequence: last, connection)
    }
    sequence = last + 1
    header = new
    seen.noteRestoration(of: new)
    isScrubNeeded = true
    try VaultRows.setMeta(VaultSchema.Row.header, new, sequence: sequence, connection)
    try recompute(under: sourceKeys)
    guard let stored, let manifest, manifest.hasRecords(of: stored) else {
      throw StorageError(
        .busy, "the backup was changed meanwhile; verify it, and try again", path: source.path)
    }
  }

  /// Makes the manifest anew from the present rows, and makes every process read them again.
  ///
  /// - Parameter other: the manifest's new keys; nil for those of the transaction.
  /// - Throws: `StorageError` when the rows can't be read.
  mutating func recompute(under other: ManifestKeys? = nil) throws(StorageError) {
    if let other { keys = other }
    sequence += 1
    isWholesale = true
    guard let keys else { return }
    accounted = changes.count  // all changes are in the rows
    manifest = try Manifest.computed(connection, keys)
  }

  /// Continues far beyond all known numbers: somebody with the keys chose this state, and no
  /// running program may take it for an older one.
  mutating func goOn(beyond other: Int64 = 0) {
    sequence = max(sequence, VaultRows.number(farBeyond: sequence, other, seen.greatest))
  }
}

extension ManifestKeys {
  /// Whether records and removals have other hashes under the other keys, as after names were
  /// hashed anew.
  func hashOtherwise(than other: ManifestKeys) throws(StorageError) -> Bool {
    let message: [UInt8] = [0]
    return try cryptography { () throws(CryptoError) in
      let sample = unsafe message.span.bytes
      return try records.hash(sample) != other.records.hash(sample)
    }
  }
}
