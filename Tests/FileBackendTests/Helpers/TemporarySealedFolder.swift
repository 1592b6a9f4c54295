import FileBackend
import Foundation
import Glibc
import StorageTesting
import TestSupport
import Testing
import VaultBackend

/// A folder for one test, removed with it.
final class TemporarySealedFolder: Sendable {
  let parent: URL
  var url: URL { parent.appendingPathComponent("files", isDirectory: true) }
  var path: String { parent.path + "/files" }

  init() {
    parent = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try! FileManager.default.createDirectory(
      at: parent, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o711])
  }

  deinit { try? FolderRemoval.remove(parent) }

  static let key = SymmetricKey(data: Data(repeating: 7, count: 32))

  func folder(
    _ source: KeySource = .key(key), access: StoreAccess = .readWrite,
    algorithm: AEADAlgorithm = .aes256GCM
  ) -> SealedFolder {
    SealedFolder(
      at: url, keySource: source, access: access, algorithm: algorithm, deadline: .seconds(60))
  }

  /// A folder at another place, under the same key.
  static func folder(at url: URL) -> SealedFolder { SealedFolder(at: url, keySource: .key(key)) }

  /// The index, as a vault.
  func index(tag: Data? = nil) -> VaultStorage {
    VaultStorage(
      at: url.appendingPathComponent("index.vault"), keySource: .key(Self.key),
      authenticationTag: tag)
  }

  func file(_ name: String) -> URL { parent.appendingPathComponent(name, isDirectory: false) }

  /// The files of a folder within the sealed folder.
  func entries(_ name: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path + "/" + name)) ?? []).sorted()
  }

  var blobs: [String] { entries("blobs") }
  var pending: [String] { entries("pending") }

  /// The file of the only blob.
  func onlyBlob() throws -> URL {
    try #require(blobs.count == 1)
    return url.appendingPathComponent("blobs/" + blobs[0])
  }
}

/// Bytes of which no two parts are alike.
func pattern(_ count: Int, _ seed: UInt64 = 1) -> Data {
  var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
  var data = Data(capacity: count + 8)
  while data.count < count {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    unsafe withUnsafeBytes(of: state) { unsafe data.append(contentsOf: $0) }
  }
  return data.prefix(count)
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

let segment = 65_536
let helper = HelperProgram("FileTestChild")
