extension StoreKeys {
  /// Removes the header and all records of the place, without a key.
  ///
  /// The next use finds no header and makes a new store. The key of the old store stays.
  func discard(by body: (() throws(StorageError) -> Void)? = nil) throws(StorageError) {
    try underGate { (state) throws(StorageError) in
      if let body { try body() } else { try place.discard() }
      (state.opener, state.refusal) = (nil, nil)
      for candidate in state.source.candidates {
        do throws(StorageError) {
          try candidate.dependents()?.allowNewKey(besides: noteOfPlace())
        } catch {
          // Nothing of the store is left. Where its key is gone, the next write says what forbids a
          // new one.
        }
      }
    }
  }

  /// How the store is noted among those that need a key file.
  func noteOfPlace() throws(StorageError) -> String {
    if let path = place.location, path.hasPrefix("/") { return path }
    return "a store in no file: \(try place.place())"
  }

  /// Crosses the store out where it is noted for a key file that no longer opens it.
  func forget(_ header: StoreHeader, _ source: KeySource) {
    for candidate in source.candidates where header.slots(of: candidate).isEmpty {
      // Then it stays noted, and a new key is refused sooner than need be.
      do throws(StorageError) { try candidate.dependents()?.forget(noteOfPlace()) } catch {}
    }
  }
}
