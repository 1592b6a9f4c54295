internal import StorageCore

/// A blob that a transaction makes, removes, or gives to another name.
struct TouchedBlob {
  /// Who has a share of the blob's marker.
  enum Holder {
    case writer(BlobWriter, isOwned: Bool)
    case marker(PendingMarker)
  }

  /// The name that it has if the transaction fails; nil for none.
  var oldName: StoreKey?
  /// The name that it has if the transaction succeeds; nil for none.
  var newName: StoreKey?
  let holder: Holder

  init(oldName: StoreKey? = nil, newName: StoreKey? = nil, by holder: Holder) {
    self.oldName = oldName
    self.newName = newName
    self.holder = holder
  }

  func finish(
    _ id: BlobID, _ outcome: SealedFolderTransaction.Outcome, in folder: SealedFolder,
    _ place: BlobPlace
  ) {
    if case .writer(_, isOwned: false) = holder, outcome != .done { return }
    guard outcome != .unknown else {
      if case .writer(let writer, _) = holder { writer.leave() }
      return
    }
    // A blob has at most one name, and a blob without a name never gets one.
    guard let name = outcome == .done ? newName : oldName else { return remove(id, place) }
    // The blob is gone if somebody else replaced it meanwhile.
    let isDecided = { () throws(StorageError) in
      if try folder.entry(named: name)?.blob?.id == id { return true }
      return try !place.hasFile(of: id)
    }
    switch holder {
    case .writer(let writer, _): writer.finish(if: isDecided)
    case .marker(let marker): marker.end(if: isDecided)
    }
  }

  private func remove(_ id: BlobID, _ place: BlobPlace) {
    switch holder {
    case .writer(let writer, _): writer.abandon()
    case .marker(let marker):
      do throws(StorageError) {
        try place.remove(id)
        marker.end { true }
      } catch {}  // the marker stays, and the next sweep tries again
    }
  }
}
