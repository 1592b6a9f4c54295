import StorageCore
import VaultBackend

/// Properties of the standard vault, as a program has them.
struct StandardSettings {
  struct User: Codable, Sendable {
    var name: String
    var roles: [String] = []
  }

  @Vault("token") var token: String?
  @Vault("region") var region = "eu"
  @UnwrappedVault("launches") var launches = 0
  @CodableVault("user") var user: User?
  @CodableVault("admin") var admin = User(name: "root")
  @UnwrappedCodableVault("guest") var guest = User(name: "guest")

  /// All values, as the properties give them.
  private var line: String {
    let (region, admin) = (region ?? "nil", admin?.name ?? "nil")
    return "\(token ?? "nil") \(region) \(launches) \(user?.roles ?? []) \(admin) \(guest.name)"
  }

  /// Says what is there, changes all of it and says that.
  static func use(_ value: String) {
    let settings = StandardSettings()
    say(settings.line)
    settings.token = value
    settings.region = value + "-region"
    settings.launches += 1
    settings.user = User(name: value, roles: [value])
    settings.admin?.name = value + "-admin"
    settings.guest.name = value + "-guest"
    say(settings.line)
    do throws(StorageError) {
      say("stored " + (try VaultStorage.standard.keys().sorted().joined(separator: " ")))
      say("token " + (try settings.$token.load() ?? "nil"))
      say(try VaultStorage.standard.verify().isSound ? "sound" : "not sound")
    } catch {
      say("error \(error.code)")
    }
  }
}
