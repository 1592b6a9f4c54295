import Glibc

/// The command line.
struct Options {
  /// How many pairs of batches each comparison takes.
  var pairs = 200
  /// Whether a missed target is a failure.
  var checks = false
  /// Where the report goes, if anywhere.
  var report: String?
  /// Only comparisons with this in their name.
  var filter = ""

  private static let usage = """
    usage: bench [--check] [--pairs N] [--filter TEXT] [--report FILE]
      --check        exit with 1 when a target is missed, and missed again
      --pairs N      pairs of batches per comparison; 200 unless said otherwise
      --filter TEXT  only the comparisons with TEXT in their name
      --report FILE  write the results as Markdown
    """

  init(_ arguments: some Sequence<String>) {
    var rest = Array(arguments)
    func next() -> String {
      if rest.isEmpty { Self.fail() }
      return rest.removeFirst()
    }
    while !rest.isEmpty {
      switch next() {
      case "--check": checks = true
      case "--pairs":
        guard let number = Int(next()), number > 0 else { Self.fail() }
        pairs = number
      case "--filter": filter = next()
      case "--report": report = next()
      default: Self.fail()
      }
    }
  }

  private static func fail() -> Never {
    print(usage)
    exit(64)
  }

  /// Whether a comparison of this name is asked for.
  func isChosen(_ name: String) -> Bool {
    filter.isEmpty || name.contains(filter)
  }
}
