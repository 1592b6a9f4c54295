internal import Synchronization

extension StoreKeys {
  /// The material of `source` for a new slot; a source that can make material makes it if it has
  /// none.
  func material(
    of source: KeySource
  ) throws(StorageError) -> (KeySource.Candidate, KeyMaterial) {
    do throws(StorageError) {
      return try source.materialForNewSlot(of: place.location)
    } catch {
      throw error.at(place.location)
    }
  }

  /// Runs `body`, which asks the key source, unless the source is being asked for this place
  /// already.
  func asking<Result>(
    _ source: KeySource, _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    let isOfProgram = source.candidates.contains(where: \.isOfProgram)
    asksProgram.store(isOfProgram, ordering: .releasing)
    defer { asksProgram.store(false, ordering: .releasing) }
    guard let identity = place.identity else { return try body() }
    guard Reentry.caller(on: Asking(place: identity), dependingOn: nil) == nil else {
      throw Self.usesItself
    }
    return try Reentry.during(Asking(place: identity), "key source of \(title)", body)
  }

  private struct Asking: Hashable {
    let place: DelegateIdentity
  }

  static let isServed = StorageError(
    .invalid,
    "the provider used the storage that it serves, so each would wait for the other; let it keep and "
      + "return data without the storage")

  static let usesItself = StorageError(
    .invalid,
    "the key source uses the store that it opens, so the store waits for itself; let the source read "
      + "its key from another store, or from elsewhere")
}
