internal import CryptoCore
public import StorageCore

extension SealedFolder {
  /// Replaces all keys after one of them leaked: those of the index, as `VaultStorage.rotate` does,
  /// and then the key of every blob, which the index held.
  ///
  /// Blobs are sealed anew one by one, while others use the folder; each takes its space a second
  /// time until it is done. Marks that only holders of the new keys can make tell which ones are
  /// done. After an interruption, ``reencrypt(progress:)`` goes on; until then, each value without
  /// a mark is compared with the hash in its entry before a byte of it is given out. An entry of an
  /// earlier release gets the hash of its blob before the keys are replaced; no earlier release may
  /// use the folder from then on. A damaged blob keeps its key, which may have leaked, so no part
  /// of it is read afterwards: save its readable parts first. Copies of the folder that were made
  /// before still open with the old secret.
  ///
  /// - Parameters:
  ///   - source: what opens the folder from now on; nil keeps its own.
  ///   - names: whether names are hashed anew, in one step that others' writes wait for.
  ///   - progress: told now and then how many of all blobs' bytes are done.
  /// - Returns: what was sealed anew.
  /// - Throws: `StorageError`; the folder opens with the old source or with the new one, and every
  ///   value stays readable. No key is replaced if the blob of an entry of an earlier release can't
  ///   be read, for example with `denied`: make it readable, or remove the value.
  public func rotate(
    openedBy source: KeySource? = nil, names: Bool = false, progress: Progress? = nil
  ) throws(StorageError) -> SealedFolderRotation {
    let place = try preparedForWriting()
    try bindFormerEntries(in: place)
    let report = try index.rotate(openedBy: source, names: names)
    return try reseal(in: place, report, progress)
  }

  /// Gives each entry of version 1 the hash of its blob as it is now.
  ///
  /// Otherwise the index's rotation would seal such entries under the new keys. Somebody with the
  /// keys of their blobs could put such an entry back later, with any bytes in the blob.
  private func bindFormerEntries(in place: BlobPlace) throws(StorageError) {
    for name in try index.listing().keys {
      let found: BlobEntry?
      do throws(StorageError) { found = try entry(named: name)?.blob } catch {
        // Such a record does not open after the rotation either.
        guard error.isOfEntry else { throw error }
        continue
      }
      guard let blob = found, blob.digest == nil else { continue }
      // A blob that can't be read now must not keep an entry without a hash, so the rotation does
      // not begin.
      do throws(StorageError) {
        let bound = blob.unmarked(try Self.digest(of: blob, in: place))
        try change { (transaction) throws(StorageError) in
          guard try transaction.entry(named: name)?.blob == blob else { return }
          try transaction.put(.blob(bound), named: name)
        }
      } catch {
        throw error.about(name)
      }
    }
  }

  /// The hash of a blob, even a damaged one.
  ///
  /// For a missing blob the hash is zeros, which no blob has.
  private static func digest(
    of blob: BlobEntry, in place: BlobPlace
  ) throws(StorageError) -> [UInt8] {
    guard let file = try place.open(blob.id),
      try file.status().size == SegmentLayout.fileSize(ofLength: blob.length)
    else { return [UInt8](repeating: 0, count: StreamDigest.byteCount) }
    let digest = try cryptography { () throws(CryptoError) in try StreamDigest() }
    try file.forEachSegment(ofLength: blob.length) { (sealed) throws(StorageError) in
      _ = try cryptography { () throws(CryptoError) in try digest.append(sealed) }
    }
    return try cryptography { () throws(CryptoError) in try digest.finish() }
  }

  /// Seals anew the entries and blobs that an interrupted rotation did not reach, and those that an
  /// earlier release has sealed.
  ///
  /// - Parameter progress: as in ``rotate(openedBy:names:progress:)``.
  /// - Returns: what was sealed anew.
  /// - Throws: `StorageError`; every value stays readable.
  public func reencrypt(progress: Progress? = nil) throws(StorageError) -> SealedFolderRotation {
    let place = try preparedForWriting()
    return try reseal(in: place, index.keyAdministration.reencrypt(), progress)
  }

  private func reseal(
    in place: BlobPlace, _ report: ReencryptionReport, _ progress: Progress?
  ) throws(StorageError) -> SealedFolderRotation {
    guard try index.store.storeIdentity() != nil else {
      return SealedFolderRotation(index: report, resealedCount: 0, remaining: [])
    }
    var old: [(name: StoreKey, blob: BlobEntry)] = []
    var remaining: [StoreKey] = []
    for name in try index.listing().keys {
      do throws(StorageError) {
        // The mark decides and not a number: whoever had the old keys could have written any
        // number.
        guard let blob = try entry(named: name)?.blob, try !blob.isMarked(by: index.store) else {
          continue
        }
        old.append((name, blob))
      } catch {
        guard error.isOfValue else { throw error }
        remaining.append(name)
      }
    }
    let total = old.reduce(0) { $0 + $1.blob.length }
    var (done, count) = (0, 0)
    for (name, blob) in old {
      do throws(StorageError) {
        if try reseal(blob, name, in: place, { progress?(done + $0, total) }) { count += 1 }
      } catch {
        guard error.isOfValue else { throw error }
        remaining.append(name)
      }
      done += blob.length
    }
    return SealedFolderRotation(index: report, resealedCount: count, remaining: remaining.sorted())
  }

  /// - Returns: false when somebody replaced or removed the value meanwhile.
  private func reseal(
    _ blob: BlobEntry, _ name: StoreKey, in place: BlobPlace, _ progress: (Int) -> Void
  ) throws(StorageError) -> Bool {
    // Needs no hash first: the blob is read once, and nobody sees the new one before the hash is
    // compared.
    guard
      let reader = try BlobReader(blob, in: place, store: storeID(), under: nil)
    else {
      guard try entry(named: name)?.blob?.id == blob.id else { return false }
      throw Self.missing(blob.id, in: place, name)
    }
    let writer = try blobWriter(in: place)
    do throws(StorageError) {
      try reader.forEachSegment { (segment) throws(StorageError) in
        try writer.append(segment)
        progress(writer.length)
      }
      let entry = try writer.finish()
      let isReplaced = try change { (transaction) throws(StorageError) in
        guard try transaction.entry(named: name)?.blob?.id == blob.id else { return false }
        try transaction.put(entry, of: writer, named: name)
        return true
      }
      if !isReplaced { writer.abandon() }
      return isReplaced
    } catch {
      if error.code == .outcomeUnknown { writer.leave() } else { writer.abandon() }
      throw error.about(name)
    }
  }
}
