import Foundation
import SecurePropertyStorage

/// Keeps the settings of a web shop sealed: `import FILE`, `show`, `look FILE`, `flip`.
@main
struct Webshop {
  static let applicationID = "org.example.webshop"

  static func main() {
    SecureStorage.bootstrap(applicationID: applicationID, keySource: .automatic)
    do {
      try run(Array(CommandLine.arguments.dropFirst()))
    } catch {
      FileHandle.standardError.write(Data("webshop: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run(_ arguments: [String]) throws {
    switch (arguments.first, arguments.count) {
    case ("import", 2): try importSettings(from: arguments[1])
    case ("show", 1): try show()
    case ("look", 2):
      try Outsider(file: try plist()).look(forAllOf: DotEnv(contentsOf: arguments[1]))
    case ("flip", 1): try Outsider(file: try plist()).flipOneBit()
    default: throw DotEnvError("usage: Webshop import FILE | show | look FILE | flip")
    }
  }

  /// Assigns every variable of the file to its property.
  private static func importSettings(from path: String) throws {
    let file = try DotEnv(contentsOf: path)
    let fields = Dictionary(uniqueKeysWithValues: Settings().fields.map { ($0.name, $0) })
    for (name, value) in file.entries {
      guard let field = fields[name] else { throw DotEnvError("\(name) is not a setting") }
      try field.assign(value)
    }
    print("imported \(file.entries.count) settings (process \(getpid()))")
  }

  /// Reads every property back.
  ///
  /// Secrets are shown only by their length.
  private static func show() throws {
    var failures = 0
    for field in Settings().fields {
      do {
        guard let value = try field.show() else { continue }
        let isSecret = ["SECRET", "PASSWORD", "KEY", "DSN", "DATABASE"].contains {
          field.name.contains($0)
        }
        let shown = isSecret && value.count > 8 ? "(\(value.count) characters, not shown)" : value
        print("  " + field.name.padding(toLength: 28, withPad: " ", startingAt: 0) + shown)
      } catch {
        failures += 1
        print("  ! \(error)")
      }
    }
    print("read by process \(getpid()), \(failures) failures")
    if failures > 0 { exit(2) }
  }

  /// The file of the sealed settings.
  private static func plist() throws -> String {
    let environment = ProcessInfo.processInfo.environment
    let folder =
      environment["XDG_CONFIG_HOME"] ?? (environment["HOME"] ?? "") + "/.config"
    return "\(folder)/\(applicationID).secure.plist"
  }
}
