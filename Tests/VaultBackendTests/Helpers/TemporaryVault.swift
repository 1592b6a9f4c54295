import CSQLite
import Foundation
import StorageTesting
import Testing
import VaultBackend

/// A vault in a folder of its own, which goes away with it.
///
/// Others may pass, since what is below a folder that nobody else can enter is not refused.
final class TemporaryVault: Sendable {
  let folder: URL
  var url: URL { file("test.vault") }
  var path: String { url.path }

  init() {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try! FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o711])
  }

  deinit { try? FolderRemoval.remove(folder) }

  func file(_ name: String) -> URL { folder.appendingPathComponent(name, isDirectory: false) }

  var entries: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()) ?? []
  }

  static let key = SymmetricKey(data: Data(repeating: 7, count: 32))

  func delegate(_ access: StoreAccess = .readWrite) -> VaultDelegate {
    VaultDelegate(at: url, access: access)
  }

  func storage(
    _ source: KeySource = .key(key), named name: String = "test.vault",
    access: StoreAccess = .readWrite, tag: Data? = nil, deadline: Duration = .seconds(60)
  ) -> VaultStorage {
    VaultStorage(
      at: file(name), keySource: source, access: access, authenticationTag: tag, deadline: deadline)
  }

  /// Changes the file behind the library's back, with all that SQLite can do.
  func tamper(_ sql: String, _ name: String = "test.vault") throws {
    var handle: OpaquePointer?
    defer { unsafe sqlite3_close(handle) }
    #expect(unsafe sqlite3_open(file(name).path, &handle) == SQLITE_OK)
    unsafe sqlite3_busy_timeout(handle, 60_000)
    var message: UnsafeMutablePointer<CChar>?
    let code = unsafe sqlite3_exec(handle, sql, nil, nil, &message)
    let text = unsafe message.map { unsafe String(cString: $0) } ?? ""
    try #require(code == SQLITE_OK, "\(text)")
  }
}

/// The code of what `body` throws, or nil when it doesn't.
func code(_ body: () throws -> Void) -> StorageError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? StorageError)?.code
  }
}
