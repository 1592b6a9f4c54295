import Foundation
import LocalData

/// The stock data of a small shop: a key for every domain and every kind of policy.
struct InventoryKeys: Sendable {
  let theme = StoredKey<String>(
    "theme", in: .userDefaults, security: .none, owner: "Settings",
    description: "The theme of the window.")
  let cashier = StoredKey<String>(
    "cashier", in: .userDefaults, owner: "Settings", description: "Who works at this till.")
  let currency = StoredKey<String>(
    "currency", in: .appGroupUserDefaults(identifier: nil), security: .none, owner: "Settings",
    description: "The currency, for all programs of the shop.")
  let bankToken = StoredKey<String>(
    "bank-token", in: .keychain(service: nil),
    security: .keychain(accessibility: .afterFirstUnlock), owner: "Payments",
    description: "The token for the bank's interface.")
  let signingKey = StoredKey<Data>(
    "signing-key", in: .keychain(service: nil),
    security: .encrypted(.aes256(keyDerivation: .hkdf())), serializer: .data, owner: "Payments",
    description: "The key that receipts are signed with.")
  let safeCode = StoredKey<String>(
    "safe-code", in: .keychain(service: nil),
    security: .keychain(accessibility: .afterFirstUnlock, accessControl: .devicePasscode),
    owner: "Office", description: "The code of the safe, under the owner's passcode.")
  let priceList = StoredKey<[String: Int]>(
    "price-list", in: .fileSystem(directory: .documents), security: .none, serializer: .plist,
    owner: "Stock", description: "The prices, which the printer's program reads.")
  let margins = StoredKey<[String: Int]>(
    "margins", in: .fileSystem(directory: .documents),
    security: .encrypted(.chacha20Poly1305(keyDerivation: .pbkdf2(iterations: 600_000))),
    owner: "Stock", description: "What the shop earns on each article.")
  let thumbnails = StoredKey<Data>(
    "thumbnails", in: .encryptedFileSystem(directory: .caches), serializer: .data, owner: "Stock",
    description: "Pictures of articles, which can be created again.")
  let contracts = StoredKey<Data>(
    "contracts", in: .encryptedFileSystem(directory: .documents),
    security: .encrypted(.external(source: KeyMaterialSource(id: "head-office"))),
    serializer: .data, owner: "Office", description: "Contracts with suppliers.")
  let orders = StoredKey<[String]>(
    "orders", in: .appGroupFileSystem(id: nil, directory: .documents), owner: "Office",
    description: "Open orders, for all programs of the shop.")
  let lastVisit = StoredKey<Date>(
    "last-visit", in: .userDefaults, owner: "Statistics",
    description: "When the program was last opened; not written in this example.")
}

/// A stand-in for a service that supplies keys.
struct HeadOffice: KeyMaterialProviding {
  func keyMaterial(for keyName: String) async throws -> Data { Data(repeating: 7, count: 32) }
}

/// Writes the inventory's data, and its catalog and report: `Inventory fill|catalog|report FORMAT`.
@main
struct Inventory {
  static func main() async throws {
    SecureStorage.bootstrap(applicationID: "org.example.inventory")
    let router = StorageRouter.shared
    await router.updateStorageConfiguration(
      StorageConfiguration(defaultAppGroupIdentifier: "org.example.shop", keychain: .vault))
    await router.registerKeyMaterialProvider(
      HeadOffice(), for: KeyMaterialSource(id: "head-office"))
    // A program with a window would ask the owner.
    await router.registerPasscode { try SecureBytes(Array("the owner's passcode".utf8)) }
    try router.registerKeys(InventoryKeys())
    switch Array(CommandLine.arguments.dropFirst()) {
    case ["fill"]: try await fill(router(InventoryKeys()))
    case ["catalog"]: show(try router.catalogReport().json)
    case ["report"]: show(try await router.audit().text)
    default:
      FileHandle.standardError.write(
        Data("usage: Inventory fill | catalog | report\n".utf8))
      exit(64)
    }
  }

  private static func fill(_ stock: KeyedRouter<InventoryKeys>) async throws {
    try await stock.set("dark", for: \.theme)
    try await stock.set("Ada", for: \.cashier)
    try await stock.set("EUR", for: \.currency)
    try await stock.set("bank-token-1b7f", for: \.bankToken)
    try await stock.set(Data("signing-key-77".utf8), for: \.signingKey)
    try await stock.set("safe-code-4711", for: \.safeCode)
    try await stock.set(["tea": 340, "coffee": 520], for: \.priceList)
    try await stock.set(["tea": 120, "coffee": 190], for: \.margins)
    try await stock.set(Data(repeating: 1, count: 40_000), for: \.thumbnails)
    try await stock.set(Data(repeating: 2, count: 9_000), for: \.contracts)
    try await stock.set(["tea, 20 kg", "cups, 400"], for: \.orders)
    print("11 of 12 keys have a value now")
  }

  private static func show(_ text: String) {
    FileHandle.standardOutput.write(Data(text.utf8))
  }
}
