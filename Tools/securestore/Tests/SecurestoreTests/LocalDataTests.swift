import Foundation
import LocalData
import Testing

private struct Keys {
  let note = StoredKey<String>(
    "note", in: .fileSystem(directory: .documents), owner: "Notes", description: "The note.")
  let token = StoredKey<String>(
    "token", in: .keychain(service: nil), owner: "Login", description: "The token.")
}

/// The command `localdata rotate` on the data of an application.
struct LocalDataCommandTests {
  private static let marker = "MARKER-0815-VALUE"
  private let tool: Tool
  private let catalog: String
  private var data: String { tool.path("store/data/com.example.shop") }

  private func router(_ key: String) -> StorageRouter {
    StorageRouter(
      applicationID: "com.example.shop",
      keySource: .file(URL(fileURLWithPath: tool.path(key))),
      folder: URL(fileURLWithPath: tool.path("store"), isDirectory: true),
      configuration: StorageConfiguration(keychain: .vault))
  }

  init() async throws {
    tool = try Tool(hasVault: false)
    catalog = tool.path("catalog.json")
    let router = router("old")
    try router.registerKeys(Keys())
    try await router(Keys()).set(Self.marker, for: \.note)
    try await router(Keys()).set(Self.marker, for: \.token)
    try tool.write(try router.catalogReport().json, to: "catalog.json")
  }

  private func rotate(_ options: String...) throws -> Tool.Result {
    try tool.run(
      [
        "localdata", "rotate", catalog, "--folder", tool.path("store"), "--key-file",
        tool.path("old"),
      ] + options)
  }

  @Test func everyKeyIsReplacedAndTheValuesStay() async throws {
    let before = try Data(contentsOf: URL(fileURLWithPath: data + "/Documents/note"))
    let rotation = try rotate("--new-key-file", tool.path("new"), "--yes", "--json")
    #expect(rotation.code == 0, "\(rotation.errors)")
    let json = try rotation.json()
    #expect((json["stores"] as? [Any])?.count == 2)
    #expect(json["keys"] as? [String] == ["master key vault/LocalData/MasterKey"])
    #expect(json["resealed"] as? Int == 2)
    #expect((json["left"] as? [Any])?.isEmpty == true)
    #expect(!rotation.text.contains(Self.marker))
    let owner = router("new")
    #expect(try await owner(Keys()).get(\.note) == Self.marker)
    #expect(try await owner(Keys()).get(\.token) == Self.marker)
    try before.write(to: URL(fileURLWithPath: data + "/Documents/note"))
    await #expect(throws: StorageError.self) { _ = try await owner(Keys()).get(\.note) }
    // Again with the same options, as after an interruption.
    let again = try rotate("--new-key-file", tool.path("new"), "--yes")
    #expect(again.code == 11, "\(again.code) \(again.text) \(again.errors)")
    #expect(try await owner(Keys()).get(\.token) == Self.marker)
  }

  @Test func itAsksForTheNewKeyAndForConsent() async throws {
    #expect(try rotate("--yes").code == 64)
    #expect(try rotate("--same-key", "--new-key-file", tool.path("new"), "--yes").code == 64)
    #expect(try rotate("--new-key-file", tool.path("old"), "--yes").code == 64)
    #expect(try rotate("--new-key-file", tool.path("new")).code == 64)
    #expect(!FileManager.default.fileExists(atPath: tool.path("new")))
    #expect(try await router("old")(Keys()).get(\.note) == Self.marker)
  }

  @Test func anApplicationWithoutStoresIsAnErrorAndNothingIsMade() throws {
    for options in [["--app", "com.example.other"], ["--folder", tool.path("elsewhere")]] {
      let folder = options[0] == "--app" ? ["--folder", tool.path("store")] : []
      let rotation = try tool.run(
        ["localdata", "rotate", catalog, "--key-file", tool.path("old")] + folder + options
          + ["--new-key-file", tool.path("new"), "--yes"])
      #expect(
        rotation.code != 0 && rotation.errors.contains("no typed storage"), "\(rotation.errors)")
    }
    for path in ["new", "elsewhere", "store/data/com.example.other"] {
      #expect(!FileManager.default.fileExists(atPath: tool.path(path)), "\(path)")
    }
  }

  @Test func whatIsMissingIsRefusedUntilItIsAbandoned() throws {
    try FileManager.default.removeItem(atPath: data + "/Documents")
    let refused = try rotate("--new-key-file", tool.path("new"), "--yes")
    #expect(refused.code != 0 && refused.errors.contains("fileSystem(documents)/note"))
    #expect(!FileManager.default.fileExists(atPath: tool.path("new")))
    let abandoned = try rotate("--new-key-file", tool.path("new"), "--abandon-missing", "--yes")
    #expect(abandoned.code == 0 && abandoned.errors.contains("note"), "\(abandoned.errors)")
  }

  @Test func aValueThatCantBeReadIsNamed() throws {
    let note = URL(fileURLWithPath: data + "/Documents/note")
    try Data(contentsOf: note).dropLast().write(to: note)
    let rotation = try rotate("--same-key", "--yes")
    #expect(rotation.code == 12)
    #expect(rotation.errors.contains("fileSystem(documents)/note"))
    #expect(!rotation.errors.contains(Self.marker))
  }

  @Test func theRotationOfOneVaultSaysWhatIsLeftToDo() throws {
    let text = try tool.run(
      "rotate", "--root", "--vault", data + "/keychain.vault", "--key-file", tool.path("old"),
      "--new-key-file", tool.path("new"), "--yes")
    #expect(text.code == 0 && text.errors.contains("localdata rotate"), "\(text.errors)")
    let json = try tool.run(
      "rotate", "--root", "--vault", data + "/localdata.vault", "--key-file", tool.path("old"),
      "--new-key-file", tool.path("new"), "--yes", "--json"
    ).json()
    #expect((json["leftToDo"] as? [String])?.first?.contains("localdata rotate") == true)
    // The vaults that are rotated already are rotated again, with everything else.
    let all = try tool.run(
      "localdata", "rotate", catalog, "--folder", tool.path("store"), "--key-file",
      tool.path("new"), "--same-key", "--yes")
    #expect(all.code == 0, "\(all.errors)")
  }
}
