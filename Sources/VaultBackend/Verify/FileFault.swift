internal import StorageCore

extension Connection {
  /// What SQLite finds broken in the file's structure, in words; nil when it finds nothing.
  ///
  /// It reads all of the file: https://sqlite.org/pragma.html#pragma_integrity_check. Needs no key.
  ///
  /// - Throws: `StorageError` when that can't be known, for example because the file can't be read.
  func fileFault() throws(StorageError) -> String? {
    var rows: [String] = []
    do throws(StorageError) {
      // Its answer names pages and rows.
      try statement("PRAGMA integrity_check(8)").run {
        rows.append($0.text(0) ?? "")
        return true
      }
    } catch {
      guard error.code == .damaged else { throw error }
      guard !rows.isEmpty else { return error.finding }
    }
    guard rows != ["ok"] else { return nil }
    // A row may be many lines, the first of them a headline.
    let faults = rows.flatMap { $0.split(separator: "\n") }.filter { !$0.hasPrefix("***") }
    let first = faults.first.map { ": \($0)" } ?? ""
    let others = faults.count > 1 ? ", and \(faults.count - 1) more" : ""
    return "the file's structure is broken\(first)\(others)"
  }
}
