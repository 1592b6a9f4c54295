import SecurePropertyStorage
import Service

struct V1: Codable {
  struct Contact: Codable { var phone = "a-secret-value" }
  var contact = Contact()
}

struct V2: Codable {
  struct Contact: Codable { var email: String }
  var contact: Contact
}

struct Memory { @Singleton("x") var x: String? }

switch CommandLine.arguments.dropFirst().first {
case "store":
  _ = try Settings().launch()
  try VaultStorage.standard.save(V1(), forKey: "account")
case "read":  // with a key that is not the vault's
  let settings = Settings()
  for _ in 0..<60_000 { _ = settings.launches }
case "schema": print(CodableVault<V2>("account").state)
case "bootstrap":
  _ = Settings().theme
  SecureStorage.bootstrap(applicationID: "late")
default:
  let memory = Memory()
  memory.x = "it works"
  print(memory.x ?? "nothing was stored")
}
