internal import CryptoCore
internal import DefaultsBackend
internal import FileBackend
internal import Foundation
internal import StorageCore
internal import VaultBackend

/// Opens the storages of a router, each once, and finds the place of an address in them.
final class Places: Sendable {
  let locations: Locations
  let keySource: KeySource
  /// Where the records of a test are; nil outside of tests.
  private let test: TestPlaces?
  private let keyringBus: String?
  /// The access for vaults and sealed folders.
  private let access: VaultAccess

  private struct Open {
    var storages: [String: DelegatedStorage] = [:]
    var folders: [String: SealedFolder] = [:]
  }
  private let open = Lock(Open())

  init(
    _ locations: Locations, _ keySource: KeySource, test: TestPlaces? = nil,
    keyringBus: String? = nil, access: VaultAccess = .readWrite
  ) {
    self.access = access
    self.locations = locations
    self.keySource = keySource
    self.test = test
    self.keyringBus = keyringBus
  }

  // MARK: - Storages

  /// The storage of that name, created once and not yet opened.
  private func storage(_ name: String, _ make: () -> DelegatedStorage) -> DelegatedStorage {
    open.withLock { open in
      if let storage = open.storages[name] { return storage }
      let storage =
        test.flatMap { test in
          test.folder == nil
            ? DelegatedStorage(test.delegate(of: "localdata/" + name), keySource: keySource) : nil
        } ?? make()
      open.storages[name] = storage
      return storage
    }
  }

  /// A vault in the application's data folder.
  func vault(_ file: String) -> DelegatedStorage {
    storage(file) {
      VaultStorage(keySource: keySource, access: access) { [locations] () throws(StorageError) in
        try locations.data() + "/" + file
      }
    }
  }

  /// Whether the stores are a test's stores in memory.
  var isInMemory: Bool { test != nil && test?.folder == nil }

  func suite(_ name: String) -> DelegatedStorage {
    storage("suite/" + name) {
      guard let root = locations.root else {
        return UserDefaultsStorage(suiteName: name, keySource: keySource)
      }
      return UserDefaultsStorage(
        DefaultsDelegate(folder: root + "/config", suiteName: name), keySource: keySource)
    }
  }

  func keyring(
    _ service: String, ofDevice isOfDevice: Bool
  ) throws(StorageError) -> DelegatedStorage {
    #if Keyring
      return storage((isOfDevice ? "device/" : "keyring/") + service) {
        KeyringChoice.storage(
          of: service, isOfDevice: isOfDevice, keySource: keySource, bus: keyringBus)
      }
    #else
      throw StorageError(
        .unsupported, "this program was built without the trait Keyring; use the vault")
    #endif
  }

  func folder(_ path: String) throws(StorageError) -> SealedFolder {
    guard test == nil || test?.folder != nil else { throw TestStores.hasNoFile }
    return open.withLock { open in
      if let folder = open.folders[path] { return folder }
      let folder = SealedFolder(
        at: URL(fileURLWithPath: path, isDirectory: true), keySource: keySource, access: access)
      open.folders[path] = folder
      return folder
    }
  }

  /// The vault that holds the names of a sealed folder.
  func index(of path: String) throws(StorageError) -> DelegatedStorage { try folder(path).index }

  /// Whether the session has a keyring.
  func hasKeyring() -> Bool {
    #if Keyring
      return test == nil && KeyringChoice.isThere(bus: keyringBus)
    #else
      return false
    #endif
  }

  // MARK: - Places

  /// The place of an address.
  func place(at address: PlaceAddress) throws(StorageError) -> any ValuePlace {
    switch address.kind {
    case .sealedSuite: return RecordPlace(suite(address.container), address.name)
    case .vault:
      return RecordPlace(
        vault(Self.keychainFile), FileName.escape(address.container) + "/" + address.name)
    case .keyring, .deviceKeyring:
      let isOfDevice = address.kind == .deviceKeyring
      return RecordPlace(try keyring(address.container, ofDevice: isOfDevice), address.name)
    case .file:
      try requireFiles()
      return PlainFilePlace(
        folder: SharedFolder(path: address.container, groupRoot: address.groupRoot),
        file: try FileName.encode(address.name), isCache: address.isPurgeable)
    case .plainSuite:
      try requireFiles()
      return PlainSuitePlace(
        folder: SharedFolder(
          path: FilePath.folder(of: address.container), groupRoot: address.groupRoot,
          stem: FilePath.name(of: address.container)),
        file: FilePath.name(of: address.container), entry: FileName.escape(address.name))
    case .sealedFolder:
      return SealedFilePlace(
        folder: try folder(address.container), name: address.name,
        parent: FilePath.folder(of: address.container),
        isPurgeable: address.isPurgeable)
    }
  }

  private func requireFiles() throws(StorageError) {
    guard test == nil || test?.folder != nil else { throw TestStores.hasNoFile }
  }

  /// The vault of the domain `keychain`.
  static let keychainFile = "keychain.vault"
}
