internal import CryptoCore

/// The suites of this process that are in use: one for each file.
enum SuiteRegistry {
  private struct Entry {
    weak var suite: Suite?
  }
  private static let entries = Lock<[String: Entry]>([:])

  /// The suite at a canonical path; of its ``SuiteFile/trust``, who asks first decides.
  static func suite(at path: String, trust: Int64) -> Suite {
    entries.withLock { entries in
      if let suite = entries[path]?.suite { return suite }
      let suite = Suite(SuiteFile(path: path, trust: trust))
      entries = entries.filter { $0.value.suite != nil }
      entries[path] = Entry(suite: suite)
      return suite
    }
  }

  /// All that are in use.
  static var all: [Suite] {
    entries.withLock { $0.values.compactMap(\.suite) }
  }
}
