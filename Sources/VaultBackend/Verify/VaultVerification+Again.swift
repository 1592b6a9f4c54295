internal import CryptoCore
internal import StorageCore

extension VaultVerification {
  /// Looks at everything that a connection sees, with the keys of the header that it sees.
  ///
  /// - Parameters:
  ///   - connection: in a transaction of the caller's.
  ///   - opener: what opens the records by an earlier header.
  ///   - keys: keys that may have had a value.
  ///   - past: what this process had seen before the transaction began.
  ///   - progress: called now and then how many of all records are done.
  /// - Returns: what was found, and the names of the records that do not open.
  /// - Throws: `StorageError`: why the keys of the header can't be opened.
  static func report(
    on connection: Connection, openedBy opener: RecordOpener, expecting keys: [StoreKey],
    besides past: SeenCommits.Past, _ progress: ((Int, Int) -> Void)? = nil
  ) throws(StorageError) -> (report: VaultReport, closedNames: [NameHash]) {
    let inspector = try opener.following(connection).inspector
    guard let manifestKeys = inspector.manifestKeys else {
      throw StorageError(.io, "a header has no keys; this is a bug", path: connection.path)
    }
    var verification = try VaultVerification(inspector, expecting: keys)
    let report = try verification.run(
      connection, manifestKeys, latest: try SeenCommits.latest(in: connection, past), progress)
    return (report, verification.closedNames)
  }

  /// Looks at everything again, and requires that it is what was accepted.
  ///
  /// - Returns: the names of the records that do not open.
  /// - Throws: `busy` when the vault is not what was looked at.
  static func requireSame(
    as accepted: VaultReport, on connection: Connection, openedBy opener: RecordOpener,
    besides past: SeenCommits.Past
  ) throws(StorageError) -> [NameHash] {
    let now = try report(
      on: connection, openedBy: opener, expecting: accepted.expected, besides: past)
    guard accepted.isOfTheSame(as: now.report) else {
      throw StorageError(
        .busy, "the vault was changed since it was verified; verify it again",
        path: connection.path)
    }
    return now.closedNames
  }
}
