internal import StorageCore

extension Migrator {
  /// A finished migration has a value at a source again.
  static func cameBack(_ work: Work) -> StorageError {
    let from = work.sources.map { "\($0.label) in \($0.address)" }.joined(separator: ", ")
    return StorageError(
      .conflict,
      "the migration is finished, but there is a value again at a source: \(from). It was not read or "
        + "changed, since anybody who can write there may have planted it. Remove it; or, if it is yours, "
        + "call reopenMigration, then migrate again")
  }

  /// Source and destination hold different values.
  static func conflict(_ work: Work) -> StorageError {
    let from = work.sources.map { "\($0.label) in \($0.address)" }.joined(separator: ", ")
    return StorageError(
      .conflict,
      "\(work.destination.label) in \(work.destination.address) and \(from) hold different values, and "
        + "the migration does not say which one to keep. Nothing was changed: call preferring, or "
        + "remove one of them")
  }

  /// Wraps an error of the program without its text, which may contain a value.
  static func failure(_ error: any Error, _ part: String) -> StorageError {
    if let error = error as? StorageError { return error }
    if error is CancellationError {
      return StorageError(.cancelled, "\(part) of the migration was cancelled")
    }
    return StorageError(
      .invalid, "\(part) of the migration failed: \(type(of: error)) was thrown; nothing was moved")
  }
}
