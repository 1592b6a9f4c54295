internal import StorageCore

/// The suites that this process uses: one for each file.
enum SuiteRegistry {
  private static let suites = WeakTable<ExactString, Suite>()

  /// The suite at a canonical path; the first caller determines its ``SuiteFile/trust``.
  static func suite(at path: String, trust: Int64) -> Suite {
    suites.object(ExactString(text: path)) { Suite(SuiteFile(path: path, trust: trust)) }
  }
}
