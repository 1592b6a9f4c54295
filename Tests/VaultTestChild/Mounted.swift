import Foundation
import StorageCore
import VaultBackend

/// The standard vault, as a program in a container uses it.
///
/// mounted APPLICATION SOURCE ACCESS TRUST COMMAND...: SOURCE is secret:PATH, file:PATH,
/// credential:NAME or automatic, ACCESS one of StoreAccess, TRUST one of FolderTrust; each command gives one
/// line.
enum Mounted {
  private struct Settings {
    @LiveVault("token") var token = "none"
    @Vault("region") var region: String?
  }

  static func run(_ arguments: [String]) {
    StorageDiagnostics.handler = { say("said \($0.code)") }
    SecureStorage.bootstrap(
      applicationID: arguments[0], keySource: source(arguments[1]), access: access(arguments[2]),
      folderTrust: arguments[3] == "processGroup" ? .processGroup : .owner)
    for command in arguments.dropFirst(4) {
      do {
        say(try perform(command))
      } catch let error as StorageError {
        say("error \(error.code)")
      } catch {
        say("error \(error)")
      }
    }
  }

  private static func source(_ text: String) -> KeySource {
    let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
    let place = parts.count > 1 ? parts[1] : ""
    switch parts[0] {
    case "secret": return .mountedSecret(place)
    case "credential": return .systemdCredential(place)
    case "automatic": return .automatic
    default: return .file(URL(fileURLWithPath: place))
    }
  }

  private static func access(_ text: String) -> StoreAccess {
    switch text {
    case "readOnly": .readOnly
    case "mustExist": .mustExist
    default: .readWrite
    }
  }

  private static func perform(_ command: String) throws -> String {
    let storage = VaultStorage.standard
    switch command {
    case "load": return try storage.load(String.self, forKey: "token") ?? "nil"
    case "open":
      try storage.open()
      return "opened"
    case "must-exist":
      try storage.open(.mustExist)
      return "there"
    case "live": return Settings().token
    case "property": return Settings().region ?? "nil"
    case "default": return Vault<String>(wrappedValue: "eu", "region").wrappedValue ?? "nil"
    default:
      try storage.save(command, forKey: "token")
      try storage.save(command + "-region", forKey: "region")
      return "saved"
    }
  }
}
