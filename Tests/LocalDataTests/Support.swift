import Foundation
import LocalData
import StorageTesting
import Testing

/// A folder for one test, removed with it, and routers whose places are all in it.
final class TestFolder: Sendable {
  let url: URL
  var path: String { url.path }

  init() {
    // Of a folder that is left, its name says which test left it.
    let test = Test.current?.name.prefix { $0 != "(" } ?? "suite"
    url = FileManager.default.temporaryDirectory.appendingPathComponent(
      "\(test)-\(UUID().uuidString.prefix(8))", isDirectory: true)
    try! FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FolderRemoval.remove(url) }

  static let key = SymmetricKey(data: Data(repeating: 9, count: 32))

  /// A router of a program; each call is as another start of it.
  ///
  /// Derivations may be weak, and so fast, unless a test asks for the minimum.
  func router(
    _ application: String = "com.example.app",
    configuration: StorageConfiguration = StorageConfiguration(keychain: .vault),
    hasFloor: Bool = false
  ) -> StorageRouter {
    let router = StorageRouter(
      applicationID: application, keySource: .key(Self.key), folder: url,
      configuration: configuration)
    if !hasFloor { router.waiveFloor() }
    return router
  }

  /// All files below the folder, by their paths in it.
  func files() -> [String] {
    guard let walk = FileManager.default.enumerator(atPath: path) else { return [] }
    return walk.compactMap { $0 as? String }.sorted()
  }

  /// Whether any file holds these bytes.
  func holds(_ bytes: Data) -> Bool {
    files().contains { file in
      (try? Data(contentsOf: url.appendingPathComponent(file)))?.range(of: bytes) != nil
    }
  }

  func holds(_ text: String) -> Bool { holds(Data(text.utf8)) }

  /// The permission bits of a file.
  func mode(_ file: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + file)
    return try #require(attributes[.posixPermissions] as? Int)
  }
}

/// The storage error that `body` throws, or nil when it throws none.
func error(_ body: () async throws -> Void) async -> StorageError? {
  do {
    try await body()
    return nil
  } catch {
    return error as? StorageError ?? StorageError(.io, "not a StorageError: \(error)")
  }
}

/// Its code.
func code(_ body: () async throws -> Void) async -> StorageError.Code? {
  await error(body)?.code
}

/// A key of a test.
func key<Value: Codable & Sendable>(
  _ name: String, _ domain: StorageDomain, _ security: SecurityPolicy = .recommended,
  _ serializer: Serializer = .json, of type: Value.Type = String.self
) -> StoredKey<Value> {
  StoredKey(
    name, in: domain, security: security, serializer: serializer, owner: "Tests",
    description: "A value of a test.")
}

/// Every domain with every policy that it keeps on a machine whose keychain is a vault.
struct Combination: Sendable, CustomTestStringConvertible {
  let domain: StorageDomain
  let security: SecurityPolicy
  var testDescription: String { "\(domain), \(security)" }

  static let plainDomains: [StorageDomain] = [
    .userDefaults, .userDefaults(suite: "own"), .appGroupUserDefaults(identifier: "group.test"),
    .fileSystem(directory: .documents), .fileSystem(directory: .caches),
    .appGroupFileSystem(id: "group.test", directory: .documents),
    .appGroupFileSystem(id: "group.test", directory: .caches),
  ]
  static let sealingDomains: [StorageDomain] = [
    .keychain(service: "com.example"), .keychain(service: nil),
    .encryptedFileSystem(directory: .documents), .encryptedFileSystem(directory: .caches),
  ]
  static let encryptions: [SecurityPolicy] = [
    .recommended, .encrypted(.aes256(keyDerivation: .hkdf())),
    .encrypted(.aes256(keyDerivation: .pbkdf2(iterations: 100))),
    .encrypted(.chacha20Poly1305(keyDerivation: .pbkdf2(iterations: 100))),
    .encrypted(
      .chacha20Poly1305(
        keyDerivation: .hkdf(salt: Data("salt".utf8), info: Data("info".utf8)))),
  ]

  static let sealed: [Combination] =
    (plainDomains + sealingDomains).flatMap { domain in
      encryptions.map { Combination(domain: domain, security: $0) }
    } + [
      Combination(
        domain: .keychain(service: "com.example"),
        security: .keychain(accessibility: .afterFirstUnlock)),
      Combination(
        domain: .keychain(service: nil),
        security: .keychain(accessibility: .alwaysThisDeviceOnly)),
    ]
  static let plain: [Combination] = plainDomains.map {
    Combination(domain: $0, security: .none)
  }
}
