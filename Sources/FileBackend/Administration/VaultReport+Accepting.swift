internal import StorageCore
internal import VaultBackend

extension VaultReport {
  /// Always accepted by a backup that leaves out what can't be read: it leaves out these records.
  private static let leftOut: Set<Finding.Kind> = [.damagedRecord]

  /// The findings that a backup accepts since its caller has named their kinds.
  ///
  /// - Parameters:
  ///   - kinds: the kinds that the caller has named.
  ///   - path: the index that was verified, for the error.
  /// - Returns: the findings that are accepted, damaged entries aside.
  /// - Throws: `damaged` when there are findings of other kinds: repairing the copy would make an
  ///   old record the latest one.
  func findings(acceptedAs kinds: Set<Finding.Kind>, _ path: String) throws(StorageError)
    -> [Finding]
  {
    let others = findings(besides: Self.leftOut)
    let refused = others.filter { !kinds.contains($0.kind) }
    guard let first = refused.first else { return others }
    let names = refused.map(\.kind.rawValue).sorted()
    let found = refused.map { "\($0.kind.rawValue): \($0.message)" }.joined(separator: "; ")
    throw StorageError(
      .damaged,
      "the index is not sound, and a copy would hide that. Found: \(found). Nothing was copied. "
        + "Verify the folder and repair it, or restore a backup. "
        + "To copy it all the same, name what you accept: "
        + "accepting: [\(names.map { "." + $0 }.joined(separator: ", "))], or files backup "
        + "\(names.map { "--accept " + $0 }.joined(separator: " "))",
      key: first.keys.count == 1 ? first.keys[0] : nil, path: path)
  }
}
