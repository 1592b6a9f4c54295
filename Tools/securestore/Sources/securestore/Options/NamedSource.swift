internal import ArgumentParser

/// A key source that is selected by a word.
enum NamedSource: Hashable, ExpressibleByArgument {
  /// A key in the desktop's keyring, by its name; without a name, the key that the vault names, or
  /// else the application's key.
  case keyring(String?)
  /// The systemd credential, else the keyring, else the key file.
  case desktop

  static var allValueStrings: [String] { ["keyring", "desktop"] }
  static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

  init?(argument: String) {
    switch argument {
    case "keyring": self = .keyring(nil)
    case "desktop": self = .desktop
    default:
      let prefix = "keyring:"
      guard argument.hasPrefix(prefix), argument.count > prefix.count else { return nil }
      self = .keyring(String(argument.dropFirst(prefix.count)))
    }
  }
}
