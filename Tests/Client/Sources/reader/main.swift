import VaultBackend

struct Settings { @Vault("x") var x: String? }

let settings = Settings()
settings.x = "it works"
print(settings.x ?? "nothing was stored")
