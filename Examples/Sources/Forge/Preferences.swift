import DefaultsBackend

/// How the tool clones.
enum GitProtocol: String, Codable, CaseIterable, Sendable {
  case https, ssh
}

/// What a person may choose; kept beside the settings of other programs, in `~/.config`.
struct Preferences: Sendable {
  @UnwrappedUserDefault("git_protocol") var gitProtocol = GitProtocol.https
  @UnwrappedUserDefault("editor") var editor = "vi"
  @UnwrappedUserDefault("pager_width") var pagerWidth = 80
  @UnwrappedUserDefault("prompt") var prompt = true

  static let names = ["git_protocol", "editor", "pager_width", "prompt"]

  /// The value as a person types it; nil for a name that is none.
  func text(of name: String) throws(StorageError) -> String? {
    switch name {
    case "git_protocol": try $gitProtocol.load().rawValue
    case "editor": try $editor.load()
    case "pager_width": "\(try $pagerWidth.load())"
    case "prompt": try $prompt.load() ? "enabled" : "disabled"
    default: nil
    }
  }

  /// Stores a value as a person types it.
  func set(_ name: String, to text: String) throws {
    switch name {
    case "git_protocol":
      guard let value = GitProtocol(rawValue: text) else {
        throw Mistake("git_protocol is https or ssh, not \(text)")
      }
      try $gitProtocol.save(value)
    case "editor": try $editor.save(text)
    case "pager_width":
      guard let value = Int(text), value > 0 else {
        throw Mistake("pager_width is a number of columns, not \(text)")
      }
      try $pagerWidth.save(value)
    case "prompt":
      guard ["enabled", "disabled"].contains(text) else {
        throw Mistake("prompt is enabled or disabled, not \(text)")
      }
      try $prompt.save(text == "enabled")
    default:
      throw Mistake("\(name) is not a setting; settings are \(Self.names.joined(separator: ", "))")
    }
  }
}
