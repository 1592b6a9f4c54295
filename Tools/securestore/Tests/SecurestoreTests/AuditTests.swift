import Foundation
import LocalData
import Testing

private struct Keys {
  let theme = StoredKey<String>(
    "theme", in: .userDefaults, security: .none, owner: "Settings", description: "The theme.")
  let token = StoredKey<String>(
    "token", in: .keychain(service: nil), owner: "Login", description: "The <user's> token\n& more."
  )
}

/// The command `audit` on the data of an application.
struct AuditCommandTests {
  private static let marker = "MARKER-0815-VALUE"
  private let tool: Tool
  private let catalog: String
  private var store: String { tool.path("store") }

  /// The application writes its data and exports its catalog.
  init() async throws {
    tool = try Tool(hasVault: false)
    let key = tool.path("key")
    let router = StorageRouter(
      applicationID: "com.example.shop", keySource: .file(URL(fileURLWithPath: key)),
      folder: URL(fileURLWithPath: tool.path("store"), isDirectory: true),
      configuration: StorageConfiguration(keychain: .vault))
    try router.registerKeys(Keys())
    try await router(Keys()).set(Self.marker, for: \.theme)
    try await router(Keys()).set(Self.marker, for: \.token)
    catalog = try tool.write(try router.catalogReport().json, to: "catalog.json")
  }

  private func audit(_ options: String...) throws -> Tool.Result {
    try tool.run(
      ["audit", catalog, "--folder", store, "--key-file", tool.path("key")] + options)
  }

  @Test func noFindingsIsZeroAndTheSameBytes() throws {
    let first = try audit()
    #expect(first.code == 0, "\(first.errors)\(first.text)")
    #expect(first.text.contains("No findings."))
    #expect(try audit().output == first.output)
    let json = try audit("--json").json()
    #expect(json["schema"] as? Int == 1)
    #expect(
      (json["keys"] as? [[String: Any]])?.compactMap { $0["state"] as? String }
        == ["present", "present"])
  }

  @Test func aFolderThatIsNotThereIsNoSoundOne() throws {
    let result = try tool.run(["audit", catalog, "--folder", tool.path("nowhere")])
    #expect(result.code == 69 && result.errors.contains("nothing was audited"))
  }

  @Test func findingsAreTwoAndNamedInEachForm() throws {
    let documents = store + "/data/com.example.shop/Documents"
    try FileManager.default.createDirectory(
      atPath: documents, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try Data(Self.marker.utf8).write(to: URL(fileURLWithPath: documents + "/stray"))
    let page = tool.path("report.html")
    let text = try audit("--html", page)
    #expect(text.code == 2)
    let html = try String(contentsOfFile: page, encoding: .utf8)
    for form in [text.text, html, try audit("--json").text] {
      #expect(form.contains("stray"))
      #expect(!form.contains(Self.marker))
    }
    #expect(html.contains("The &lt;user&#39;s&gt; token?&amp; more."))
    #expect(html.contains("<mark>PLAINTEXT</mark>") && html.contains("<mark>stray</mark>"))
    for word in ["<script", "src=", "http://", "https://", "@import", "url("] {
      #expect(!html.contains(word), "\(word)")
    }
    for word in ["@media print", "name=\"viewport\""] { #expect(html.contains(word)) }
    #expect(try audit("--html", page).code == 3)
  }

  @Test func whatIsNoCatalogIsRefused() throws {
    try tool.write("{}", to: "none.json")
    #expect(try tool.run("audit", tool.path("none.json")).code == 65)
    try tool.write("{\"schema\": 9}", to: "later.json")
    #expect(try tool.run("audit", tool.path("later.json")).code == 18)
    #expect(try tool.run("audit", tool.path("absent.json")).code == 66)
    #expect(try tool.run("audit").code == 64)
  }
}
