extension SealedStore {
  /// Removes all records, including unreadable ones, in one commit where the place can.
  func removeAll() throws(StorageError) {
    try checkWrite(nil, "removeAll")
    try telling { () throws(StorageError) in try removeAllQuietly() }
  }

  /// Tells the store's watchers that `body` wrote as many values as it returns, or why it failed.
  func telling(_ body: () throws(StorageError) -> Int) throws(StorageError) {
    do throws(StorageError) {
      let count = try body()
      if count > 0 { events.tell(.wrote(count)) }
    } catch {
      events.tell(.failedToWrite(error.code))
      throw error
    }
  }

  private func removeAllQuietly() throws(StorageError) -> Int {
    for _ in Attempts() {
      // A place needs open keys to keep its manifest in step; a place without a manifest works
      // without keys. The version is read first, so that its keys are open before anything is
      // written under it.
      let version = try place.header().version
      var refusal: StorageError?
      do throws(StorageError) { try keys.refresh() } catch { refusal = error }
      let names = try place.names()
      let removals = names.map { RecordWrite(nil, for: $0) }
      guard !removals.isEmpty else { return 0 }
      var rest = removals[...]
      do throws(StorageError) {
        while !rest.isEmpty {
          let batch = Array(rest.prefix(place.commitLimit))
          guard try place.commit(batch, headerVersion: version) == .committed else { break }
          rest = rest.dropFirst(batch.count)
        }
      } catch {
        throw refusal ?? error
      }
      guard rest.isEmpty else { continue }
      let misnamedCount = try misnamedCount(among: names)
      guard misnamedCount == 0 else {
        throw StorageError(
          .damaged,
          "\(misnamedCount) of the records can't be removed, because their names are damaged; repair "
            + "the store and try again")
      }
      return names.count
    }
    throw StorageError(.busy, "another program kept changing the store's keys; try again")
  }
}
