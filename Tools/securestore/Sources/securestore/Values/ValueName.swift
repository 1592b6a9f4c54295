internal import ArgumentParser
internal import StorageCore

/// Checks and completes the names of values on the command line.
enum ValueName {
  /// Refuses `NAME=value` as a new name: the user meant to store the value, and every program can
  /// see arguments.
  ///
  /// - Throws: `Failure` without the text after the sign.
  static func requireNoValue(in name: String) throws {
    guard let shown = shown(name), !isBehindTerminator(name) else { return }
    throw Failure(
      .usage,
      "this is NAME=value, and a value is never an argument, since every program can see arguments: give only "
        + "the name, and send the value through a pipe or type it at the prompt. If the = is part of the "
        + "name, put -- before the name", key: shown)
  }

  /// The error of a name that has no value, with the names that may be meant.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - storage: the store; it is looked through for similar names.
  /// - Returns: the error.
  static func absent(_ name: String, in storage: some Storage) -> Failure {
    absent(name) { () throws(StorageError) in try storage.listing().keys }
  }

  /// The same; `names` gives the names that there are.
  static func absent(_ name: String, of names: () throws(StorageError) -> [String]) -> Failure {
    guard let shown = shown(name) else {
      return Failure(.absent, "the value does not exist" + question(name, names), key: name)
    }
    return Failure(
      .absent, "the value does not exist; give only the name, without = and a value", key: shown)
  }

  private static func question(
    _ name: String, _ names: () throws(StorageError) -> [String]
  ) -> String {
    // Without a list of names there is no hint, and the value is absent all the same.
    do throws(StorageError) {
      return Nearness.question(Nearness.names(name, in: try names()))
    } catch {
      return ""
    }
  }

  /// The name without text that may be a value; nil for a name without an equals sign.
  private static func shown(_ name: String) -> String? {
    name.firstIndex(of: "=").map { name[..<$0] + "=…" }
  }

  private static func isBehindTerminator(_ name: String) -> Bool {
    CommandLine.arguments.drop { $0 != "--" }.contains(name)
  }

  /// Completes the names of the vault on the command line, as far as that needs no prompt.
  static let completion = CompletionKind.custom { words, _, _ in NameCompletion.names(for: words) }
}
