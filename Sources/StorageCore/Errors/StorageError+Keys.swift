/// Why a store that exists does not open: three cases that call for different acts.
///
/// Each is of the file to look at: the key file where the source is one, else the store's own, which
/// who throws it adds.
extension StorageError {
  /// A source gave a key, and it is another store's, or an older one.
  static func wrongKey(of source: KeySource.Candidate, store: String?) -> StorageError {
    let path = source.path()
    let subject = path == nil ? source.title : "the key file"
    return StorageError(
      .wrongKey,
      "\(subject) gave a key that does not open \(name(of: store, isSaid: path == nil)); its data is "
        + "untouched. Put the right key back, or open the store with its recovery key", path: path)
  }

  /// The key file that a store opens with is listed, and not there.
  static func keyFileGone(_ source: KeySource.Candidate, store: String?) -> StorageError {
    StorageError(
      .keyUnavailable,
      "the key file is gone that opens \(name(of: store, isSaid: false)); its data is untouched. "
        + "Put the key file back from a backup, or open the store with its recovery key",
      path: source.path())
  }

  /// No source was given that the store opens with, or none of them has a key.
  static func noSource(of source: KeySource, opens header: StoreHeader) -> StorageError {
    let known = header.slots.map {
      "\($0.kind)" + ($0.identifier.isEmpty ? "" : " \($0.identifier)")
    }
    let given = source.candidates.map { candidate in
      header.slots(of: candidate).isEmpty
        ? "\(candidate.title), with which it does not open"
        : "\(candidate.title): \(candidate.absence() ?? "not there")"
    }
    return StorageError(
      .keyUnavailable,
      "the store opens with \(known.joined(separator: " or ")), and its key was not found (asked: "
        + "\(given.joined(separator: "; "))); its data is untouched. Provide what it opens with")
  }

  /// The store, by its path unless the error is of that path anyway.
  private static func name(of store: String?, isSaid: Bool) -> String {
    guard let store, !isSaid else { return "this store" }
    return "the store \(store)"
  }
}
