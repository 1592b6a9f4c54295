internal import CryptoCore
public import StorageCore

extension SealedFolder {
  /// Replaces all keys after one of them leaked: those of the index, as `VaultStorage.rotate` does,
  /// and then the key of every blob, which the index held.
  ///
  /// Blobs are sealed anew one by one, while others use the folder; each takes its space a second
  /// time until it is done. Marks that only holders of the new keys can make tell which ones are
  /// done. After an interruption, ``reencrypt(progress:)`` goes on; until then, each value without
  /// a mark is compared with the hash in its entry before a byte of it is given out. A damaged blob
  /// keeps its key, which may have leaked, so no part of it is read afterwards: save its readable
  /// parts first. Copies of the folder that were made before still open with the old secret.
  ///
  /// - Parameters:
  ///   - source: what opens the folder from now on; nil keeps its own.
  ///   - names: whether names are hashed anew, in one step that others' writes wait for.
  ///   - progress: told now and then how many of all blobs' bytes are done.
  /// - Returns: what was sealed anew.
  /// - Throws: `StorageError`; the folder opens with the old source or with the new one, and every
  ///   value stays readable.
  public func rotate(
    openedBy source: KeySource? = nil, names: Bool = false, progress: Progress? = nil
  ) throws(StorageError) -> SealedFolderRotation {
    let place = try preparedForWriting()
    let report = try index.keyAdministration.rotate(openedBy: source, names: names)
    return try reseal(in: place, report, progress)
  }

  /// Seals anew the entries and blobs that an interrupted rotation did not reach.
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
