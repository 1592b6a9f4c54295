#if Configuration
  import StorageTesting
  import CryptoCore
  import DefaultsBackend
  import Foundation
  import KeyringBackend
  import KeyringTesting
  import SingletonBackend
  import StorageCore
  import Testing
  import VaultBackend

  /// A place for values, of a test's own.
  final class Place: Sendable {
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
      case vault, suite, keyring, memory

      var testDescription: String { rawValue }
      /// Those whose snapshots are of one moment.
      static let transactional: [Kind] = [.vault, .suite, .memory]
    }

    static let key = SymmetricKey(data: Data(repeating: 9, count: 32))

    let folder: URL
    let storage: any Storage
    private let kind: Kind
    private let bus: PrivateBus?
    private let keyring: GnomeKeyring?

    init(_ kind: Kind) throws {
      self.kind = kind
      folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      bus = kind == .keyring ? try PrivateBus() : nil
      keyring = try bus.map { try GnomeKeyring(on: $0) }
      storage = Self.storage(kind, folder, bus?.address)
    }

    deinit { try? FolderRemoval.remove(folder) }

    /// Another storage of the same place, as another part of the program would make it.
    func another() -> any Storage {
      kind == .memory ? storage : Self.storage(kind, folder, bus?.address)
    }

    private static func storage(_ kind: Kind, _ folder: URL, _ bus: String?) -> any Storage {
      switch kind {
      case .vault: VaultStorage(at: vault(in: folder), keySource: .key(key))
      case .suite:
        UserDefaultsStorage(
          DefaultsDelegate(folder: folder.path, suiteName: "settings"), keySource: .key(key))
      case .keyring:
        KeychainStorage(
          service: "com.example.test", keySource: .key(key),
          access: KeyringAccess(deadline: .seconds(30), prompts: .never, bus: bus))
      case .memory: SingletonStorage()
      }
    }

    static func vault(in folder: URL) -> URL { folder.appendingPathComponent("test.vault") }
  }
#endif
