internal import CryptoCore

/// The suites that this process uses: one for each file.
enum SuiteRegistry {
  private struct Entry {
    weak var suite: Suite?
  }
  private static let entries = Lock<[String: Entry]>([:])

  /// The suite at a canonical path; the first caller determines its ``SuiteFile/trust``.
  static func suite(at path: String, trust: Int64) -> Suite {
    entries.withLock { entries in
      if let suite = entries[path]?.suite { return suite }
      let suite = Suite(SuiteFile(path: path, trust: trust))
      entries = entries.filter { $0.value.suite != nil }
      entries[path] = Entry(suite: suite)
      return suite
    }
  }

  /// All suites in use.
  static var all: [Suite] {
    entries.withLock { $0.values.compactMap(\.suite) }
  }
}
