import StorageCore

/// An error of the person who typed the command.
struct Mistake: Error, Equatable, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// What the tool says of an error, in one line.
///
/// The person knows the tool and not its storage: each line says what to do with this tool.
func words(for error: any Error) -> String {
  guard let error = error as? StorageError else { return "\(error)" }
  let place = error.path.map { " (\($0))" } ?? ""
  return switch error.code {
  case .keyUnavailable:
    "the key of your logins is missing\(place). Restore it from a backup"
  case .wrongKey: "your logins were stored with another key\(place). Restore that key from a backup"
  case .damaged:
    "a stored value is damaged\(place). Sign in or set it again: \(error.key ?? "unknown")"
  case .denied: "other users may read or change your files\(place): \(error.message)"
  case .busy, .locked, .timedOut: "another process is using your logins. Try again"
  case .full: "the disk is full. Nothing was changed"
  default: "\(error)"
  }
}
