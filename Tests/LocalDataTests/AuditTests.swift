import Foundation
import LocalData
import Testing
import VaultBackend

@testable import StorageCore

private struct AuditKeys {
  let theme = StoredKey<String>(
    "theme", in: .userDefaults, security: .none, owner: "Settings", description: "The theme.")
  let name = StoredKey<String>(
    "name", in: .userDefaults, owner: "Account", description: "The <user's> name & title.")
  let token = StoredKey<String>(
    "token", in: .keychain(service: nil), owner: "Login", description: "The token.")
  let note = StoredKey<String>(
    "note", in: .fileSystem(directory: .documents), owner: "Notes", description: "A sealed note.")
  let plain = StoredKey<String>(
    "plain", in: .fileSystem(directory: .documents), security: .none, owner: "Notes",
    description: "A readable note.")
  let scan = StoredKey<String>(
    "scan", in: .encryptedFileSystem(directory: .documents), owner: "Notes",
    description: "A scan.")
  let shared = StoredKey<String>(
    "shared", in: .appGroupUserDefaults(identifier: "group.test"), owner: "Suite",
    description: "Shared.")
  let absent = StoredKey<String>(
    "absent", in: .userDefaults, owner: "Nobody", description: "Never written.")
}

private struct Catalog: StorageKeyCatalog {
  static var allKeys: [AnyStorageKey] { StorageKeyList.keys(of: AuditKeys()) }
}

@Suite struct AuditTests {
  private static let marker = "MARKER-4711-VALUE"
  private let folder = TestFolder()
  private let keys = AuditKeys()
  private var documents: String { folder.path + "/data/com.example.app/Documents" }

  /// A router of a program that has written all keys but one.
  private func filled() async throws -> StorageRouter {
    let router = folder.router()
    try router.registerKeys(AuditKeys())
    for key in [keys.theme, keys.name, keys.token, keys.note, keys.plain, keys.scan, keys.shared] {
      try await router.set(Self.marker, for: key)
    }
    return router
  }

  private func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }

  private func kinds(_ report: StorageAuditReport, _ name: String) -> [String] {
    report.findings.filter { $0.name == name }.map(\.kind.rawValue).sorted()
  }

  private func forms(_ report: StorageAuditReport) -> [String] {
    [report.text, report.json]
  }

  // MARK: - Static

  @Test func aStaticReportOpensNothingAndShowsPlaintextApart() throws {
    let text = StorageAuditReport(for: Catalog.self).text
    #expect(text.contains("userDefaults/theme  [PLAINTEXT]"))
    #expect(text.contains("keychain(default)/token\n"))
    #expect(text.contains("2 in plaintext by declaration"))
    let json = try #require(
      try JSONSerialization.jsonObject(
        with: Data(StorageAuditReport(for: Catalog.self).json.utf8)) as? [String: Any])
    #expect(json["schema"] as? Int == 1)
    #expect(json["kind"] as? String == "catalog")
    #expect((json["keys"] as? [Any])?.count == 8)
    let report = try folder.router().catalogReport()
    #expect(report.applicationID == "com.example.app")
    #expect(folder.files().isEmpty)
  }

  @Test func namesCantSteerATerminalOrEndALine() {
    let report = StorageAuditReport(
      of: [
        .key(
          StoredKey<String>(
            "a\u{202E}b", in: .userDefaults, owner: "x\u{1B}[2J", description: "one\ntwo"))
      ], catalog: "C")
    let text = report.text
    #expect(text == "\(report)")
    #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}") && !text.contains("one\ntwo"))
    for scalar in report.json.unicodeScalars where scalar != "\n" {
      let category = scalar.properties.generalCategory
      #expect(![.control, .format, .lineSeparator, .paragraphSeparator].contains(category))
    }
    #expect(report.json.contains("a\\u202eb"))
  }

  @Test func faultsOfDeclarationsAreFindings() {
    let report = StorageAuditReport(
      of: [
        .key(key("x", .userDefaults)), .key(key("x", .userDefaults, of: Int.self)),
        .key(key("y", .keychain(service: nil), .none)),
        .key(StoredKey<String>("z", in: .userDefaults, owner: "", description: " ")),
      ], catalog: "C")
    #expect(kinds(report, "x") == ["duplicate"])
    #expect(kinds(report, "y") == ["impossible"])
    #expect(kinds(report, "z") == ["undescribed"])
  }

  // MARK: - Live

  @Test func whatIsAsDeclaredHasNoFindingAndTheSameBytes() async throws {
    let router = try await filled()
    let report = try await router.audit()
    #expect(report.findings == [])
    for entry in report.keys {
      #expect(entry.state == (entry.key.name == "absent" ? .absent : .present), "\(entry.key.name)")
      #expect((entry.size ?? 0 > 0) == (entry.state == .present))
      #expect((entry.modified != nil) == (entry.state == .present))
    }
    for (name, key) in [("shared", "the group's key"), ("note", "the master key")] {
      let protection = report.keys.first { $0.key.name == name }?.protection
      #expect(protection?.hasSuffix("under \(key)") == true, "\(name)")
    }
    #expect(forms(report) == forms(try await router.audit()))
    let other = folder.router()
    try other.registerKeys(AuditKeys())
    #expect(forms(report) == forms(try await other.audit()))
  }

  @Test func anAuditOfNothingMakesNothing() async throws {
    let router = folder.router()
    // Without a catalog there is nothing to compare.
    #expect(await code { _ = try await router.audit() } == .invalid)
    try router.registerKeys(AuditKeys())
    let report = try await router.audit()
    #expect(report.findings == [])
    #expect(report.keys.allSatisfy { $0.state == .absent })
    #expect(folder.files() == [])
  }

  @Test func eachThingThatIsWrongIsNamedAndNoValueIsShown() async throws {
    let router = try await filled()
    // Of keys that nobody declares any more.
    let former = folder.router()
    try await former.set(Self.marker, for: key("stray-entry", .userDefaults))
    try await former.set(Self.marker, for: key("stray-plain", .userDefaults, .none))
    try await former.set(Self.marker, for: key("stray-secret", .keychain(service: "old")))
    try await former.set(
      Self.marker, for: key("stray-scan", .encryptedFileSystem(directory: .documents)))
    try write(Self.marker, to: documents + "/stray-file")
    // A sealed value that became readable, and one that was altered.
    try write("\"\(Self.marker)\"", to: documents + "/note")
    try write("{\"\(Self.marker)", to: documents + "/plain")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o644], ofItemAtPath: documents + "/plain")
    let report = try await router.audit()
    for name in ["stray-entry", "stray-plain", "stray-secret", "stray-scan", "stray-file"] {
      #expect(kinds(report, name) == ["stray"], "\(name)")
    }
    #expect(kinds(report, "note") == ["plaintext"])
    #expect(kinds(report, "plain") == ["damaged", "rights"])
    #expect(report.findings.count == 8, "\(report.findings)")
    for form in forms(report) {
      #expect(!form.contains(Self.marker))
      #expect(form.contains("stray-secret"))
    }
    #expect(forms(report) == forms(try await router.audit()))
  }

  @Test func anAlteredSealedFileIsDamagedAndOthersAreLookedAt() async throws {
    let router = try await filled()
    let path = documents + "/note"
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    bytes[bytes.count - 1] ^= 1
    try bytes.write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    let report = try await router.audit()
    #expect(kinds(report, "note") == ["damaged"])
    #expect(report.findings.count == 1)
    #expect(report.keys.first { $0.key.name == "scan" }?.state == .present)
  }

  /// What an older release of the program stored, what its finding is, and words of the finding.
  private static let former: [(StoredKey<String>, String?, String, [String])] = {
    let older = SecurityPolicy.encrypted(.aes256(keyDerivation: .pbkdf2(iterations: 100)))
    let documents = StorageDomain.fileSystem(directory: .documents)
    let words = ["PBKDF2-SHA-256, 100 iterations", "HKDF-SHA-256"]
    return [
      (key("note", documents, older), nil, "otherPolicy", words),
      (key("token", .keychain(service: nil), older), nil, "otherPolicy", words),
      (key("note", documents, .recommended, .plist), nil, "otherSerializer", ["serialized as"]),
      (key("note", documents), "Old", "otherPlace", ["Documents/Old"]),
    ]
  }()

  @Test(arguments: 0..<4)
  func whatWasStoredInAnotherWayThanDeclaredIsNamed(_ index: Int) async throws {
    let (key, inner, kind, words) = Self.former[index]
    let older = folder.router()
    await older.updateFileStorageConfiguration(FileStorageConfiguration(subDirectory: inner))
    try await older.set(Self.marker, for: key)
    let router = folder.router()
    try router.registerKeys(AuditKeys())
    let report = try await router.audit()
    #expect(report.findings.map(\.kind.rawValue) == [kind] && report.findings[0].name == key.name)
    for word in words {
      let finding = report.findings[0]
      #expect("\(finding.place) \(finding.message)".contains(word), "\(finding)")
    }
    let state = report.keys.first { $0.key.name == key.name }?.state
    #expect(state == (inner == nil ? .present : .elsewhere))
    #expect(!report.json.contains(Self.marker))
  }

  @Test func aLostKeyIsAFindingAndNotTheEnd() async throws {
    _ = try await filled()
    let wrong = StorageRouter(
      applicationID: "com.example.app",
      keySource: .key(SymmetricKey(data: Data(repeating: 1, count: 32))), folder: folder.url,
      configuration: StorageConfiguration(keychain: .vault))
    try wrong.registerKeys(AuditKeys())
    let report = try await wrong.audit()
    #expect(report.findings.contains { $0.kind == .wrongKey && $0.name == nil })
    #expect(report.keys.first { $0.key.name == "plain" }?.state == .present)
    #expect(report.keys.first { $0.key.name == "token" }?.state == .unreadable)
  }

  // MARK: - From a file

  @Test func aCatalogFileAuditsAsTheRouterDoes() async throws {
    let router = try await filled()
    try write("stray", to: documents + "/stray-file")
    let catalog = try router.catalogReport().json
    let file = try StorageCatalogFile(json: Data(catalog.utf8))
    #expect(file.applicationID == "com.example.app")
    let report = try file.audit(keySource: .key(TestFolder.key), folder: folder.url)
    #expect(forms(report) == forms(try await router.audit()))
    // A report is a catalog again.
    let again = try StorageCatalogFile(json: Data(report.json.utf8))
    #expect(again.keys == file.keys)
  }

  @Test func whatIsNoCatalogIsRefused() async {
    let key = AnyStorageKey.key(key("x", .fileSystem(directory: .caches), .none))
    let json = StorageAuditReport(of: [key], catalog: "c").json
    let folders = ["cachFes", "", "./documents", "Documents", "../x"]
    let refused =
      [
        "", "[]", "{}", "{\"schema\": 1}",
        "{\"schema\":1,\"kind\":\"catalog\",\"keys\":[{\"name\":\"x\"}],\"findings\":[]}",
      ] + folders.map { json.replacing("\"caches\"", with: "\"\($0)\"") }
    for text in refused {
      #expect(
        await code { _ = try StorageCatalogFile(json: Data(text.utf8)) } == .invalid, "\(text)")
    }
    let later = "{\"schema\":2,\"anything\":[]}"
    #expect(await code { _ = try StorageCatalogFile(json: Data(later.utf8)) } == .unsupported)
    #expect(await code { _ = try StorageCatalogFile(json: Data(json.utf8)) } == nil)
  }

  @Test func aCatalogOfNoApplicationNeedsItsID() async throws {
    let file = try StorageCatalogFile(
      json: Data(StorageAuditReport(for: Catalog.self).json.utf8))
    let none = await code {
      _ = try file.audit(keySource: .key(TestFolder.key), folder: folder.url)
    }
    #expect(none == .invalid)
    let hostile = await code {
      _ = try file.audit(
        applicationID: "../x", keySource: .key(TestFolder.key), folder: folder.url)
    }
    #expect(hostile == .invalid)
  }

  @Test func aValueUnderAKeyOfBeforeIsNamed() async throws {
    let router = try await filled()
    let vault = VaultFiles.master(in: folder)
    try vault.keyAdministration.store.keys.update { (draft, _) throws(StorageError) in
      try draft.keyset.addPrimary()
    }
    #expect(kinds(try await router.audit(), "token") == ["oldKey"])
    _ = try vault.keyAdministration.rotate()
    #expect(kinds(try await router.audit(), "token") == [])
  }

  // MARK: - What only others' material opens

  private struct Sealed {
    static let source = KeyMaterialSource(id: "office")
    let contract = key("contract", .userDefaults, .encrypted(.external(source: Self.source)))
    let safe = key(
      "safe", .keychain(service: nil),
      .keychain(accessibility: .afterFirstUnlock, accessControl: .devicePasscode))
  }

  private struct Office: KeyMaterialProviding {
    let bytes: Lock<[UInt8]>
    func keyMaterial(for keyName: String) async throws -> Data {
      Data(repeating: bytes.withLock { $0[0] }, count: 32)
    }
    func formerKeyMaterial(for keyName: String) async throws -> [Data] {
      bytes.withLock { $0.dropFirst().map { Data(repeating: $0, count: 32) } }
    }
  }

  /// The states of the two keys and the kinds of the findings, in the order of their names.
  private func look(_ router: StorageRouter) async throws -> [String] {
    let report = try await router.audit()
    for form in forms(report) { #expect(!form.contains(Self.marker)) }
    return ["contract", "safe"].map { name in
      let state = report.keys.first { $0.key.name == name }?.state
      return ([state?.rawValue ?? "none"] + kinds(report, name)).joined(separator: " ")
    }
  }

  @Test func valuesOfProvidersAndPasscodesAreOpenedWhereTheMaterialIsThere() async throws {
    let bytes = Lock<[UInt8]>([1])
    let router = folder.router()
    await router.registerKeyMaterialProvider(Office(bytes: bytes), for: Sealed.source)
    let asked = Lock(0)
    await router.registerPasscode {
      asked.withLock { $0 += 1 }
      return try SecureBytes(Array("correct horse".utf8))
    }
    try router.registerKeys(Sealed())
    try await router.set(Self.marker, for: Sealed().contract)
    try await router.set(Self.marker, for: Sealed().safe)
    let before = asked.withLock { $0 }
    #expect(try await look(router) == ["present", "unopened"])
    #expect(asked.withLock { $0 } == before, "a passcode was asked for")
    bytes.withLock { $0 = [2, 1] }
    #expect(try await look(router) == ["present oldKey", "unopened"])
    bytes.withLock { $0 = [2] }
    #expect(try await look(router) == ["unreadable wrongKey", "unopened"])
    // An operator has the material of neither.
    let file = try StorageCatalogFile(json: Data(try router.catalogReport().json.utf8))
    let report = try file.audit(keySource: .key(TestFolder.key), folder: folder.url)
    #expect(report.keys.map(\.state) == [.unopened, .unopened])
    #expect(report.findings == [])
  }
}
