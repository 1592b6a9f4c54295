internal import ArgumentParser
internal import StorageCore

/// Names of values as they are typed.
enum ValueName {
  /// Refuses `NAME=value` where a name is to be made: the value was meant to be stored, and every program
  /// could see it.
  ///
  /// - Throws: `Failure` without what is behind the sign.
  static func requireNoValue(in name: String) throws {
    guard let shown = shown(name), !isBehindTerminator(name) else { return }
    throw Failure(
      .usage,
      "this is NAME=value, and a value is never an argument, where every program can see it: give the "
        + "name alone, and the value through a pipe or when it is asked for. If the sign is part of the "
        + "name, put -- before it", key: shown)
  }

  /// The error of a name that has no value.
  static func absent(_ name: String) -> Failure {
    guard let shown = shown(name) else {
      return Failure(.absent, "there is no such value", key: name)
    }
    return Failure(
      .absent, "there is no such value; give the name alone, without = and a value", key: shown)
  }

  /// The name without what may be a value; nil for one that has none.
  private static func shown(_ name: String) -> String? {
    name.firstIndex(of: "=").map { name[..<$0] + "=…" }
  }

  private static func isBehindTerminator(_ name: String) -> Bool {
    CommandLine.arguments.drop { $0 != "--" }.contains(name)
  }

  /// Completes the names of the vault that the line is about, as far as that asks nobody.
  static let completion = CompletionKind.custom { words, _, _ in NameCompletion.names(for: words) }
}
