internal import CryptoCore
internal import DefaultsBackend
internal import FileBackend
internal import FoundationEssentials
internal import StorageCore
internal import VaultBackend

/// Opens the storages of a router, each once, and finds the place of an address in them.
final class Places: Sendable {
  let locations: Locations
  /// Where the key of all stores comes from; a rotation replaces it.
  let keys: RouterKeySource
  /// Where the records of a test are; nil outside of tests.
  private let test: TestPlaces?
  private let keyringBus: String?
  /// The access for vaults and sealed folders, asked at the first use; routes ask for the others.
  private let access: @Sendable () -> StoreAccess

  private struct Open {
    var storages: [ExactString: DelegatedStorage] = [:]
    var folders: [ExactString: SealedFolder] = [:]
  }
  private let open = Lock(Open())

  init(
    _ locations: Locations, _ keySource: KeySource, test: TestPlaces? = nil,
    keyringBus: String? = nil, access: @escaping @Sendable () -> StoreAccess = { .readWrite }
  ) {
    self.access = access
    self.locations = locations
    keys = RouterKeySource(keySource)
    self.test = test
    self.keyringBus = keyringBus
  }

  // MARK: - Storages

  /// The storage of that name, created once and not yet opened.
  private func storage<Failure: Error>(
    _ name: String, _ make: () throws(Failure) -> DelegatedStorage
  ) throws(Failure) -> DelegatedStorage {
    try open.withLock { (open) throws(Failure) in
      if let storage = open.storages[ExactString(text: name)] { return storage }
      let storage = try make()
      open.storages[ExactString(text: name)] = storage
      return storage
    }
  }

  /// The storage of that name in the memory of a test; nil outside of such tests.
  private func inMemory(_ name: String, _ source: KeySource) -> DelegatedStorage? {
    guard let test, test.folder == nil else { return nil }
    return DelegatedStorage(test.delegate(of: "localdata/" + name), keySource: source)
  }

  /// Throws `readOnly` if nothing may be changed in any place.
  func requireWritable() throws(StorageError) {
    guard access() == .readOnly else { return }
    throw StorageError(
      .readOnly, "the storage was opened read-only; open it with write access to change it")
  }

  /// Whether the stores are a test's stores in memory.
  var isInMemory: Bool { test != nil && test?.folder == nil }

  /// A vault in the application's data folder.
  func vault(_ file: String) -> DelegatedStorage {
    storage(file) { makeVault(file, keys.present) }
  }

  private func makeVault(_ file: String, _ source: KeySource) -> DelegatedStorage {
    inMemory(file, source)
      ?? VaultStorage(keySource: source, access: access()) { [locations] () throws(StorageError) in
        try locations.data() + "/" + file
      }
  }

  func suite(_ name: String) -> DelegatedStorage {
    storage("suite/" + name) { makeSuite(name, keys.present) }
  }

  private func makeSuite(_ name: String, _ source: KeySource) -> DelegatedStorage {
    if let test = inMemory("suite/" + name, source) { return test }
    guard let root = locations.root else {
      return UserDefaultsStorage(suiteName: name, keySource: source)
    }
    return UserDefaultsStorage(
      DefaultsDelegate(folder: root + "/config", suiteName: name), keySource: source)
  }

  func keyring(
    _ service: String, ofDevice isOfDevice: Bool
  ) throws(StorageError) -> DelegatedStorage {
    try storage(Self.name(service, isOfDevice)) { () throws(StorageError) in
      try makeKeyring(service, isOfDevice, keys.present)
    }
  }

  private static func name(_ service: String, _ isOfDevice: Bool) -> String {
    (isOfDevice ? "device/" : "keyring/") + service
  }

  private func makeKeyring(
    _ service: String, _ isOfDevice: Bool, _ source: KeySource
  ) throws(StorageError) -> DelegatedStorage {
    #if Keyring
      if let test = inMemory(Self.name(service, isOfDevice), source) { return test }
      return try KeyringChoice.storage(
        of: service, isOfDevice: isOfDevice, keySource: source, bus: keyringBus)
    #else
      throw StorageError(
        .unsupported, "this program was built without the trait Keyring; use the vault")
    #endif
  }

  func folder(_ path: String) throws(StorageError) -> SealedFolder {
    guard !isInMemory else { throw TestStores.hasNoFile }
    return open.withLock { open in
      if let folder = open.folders[ExactString(text: path)] { return folder }
      let folder = makeFolder(path, keys.present)
      open.folders[ExactString(text: path)] = folder
      return folder
    }
  }

  private func makeFolder(_ path: String, _ source: KeySource) -> SealedFolder {
    SealedFolder(
      at: URL(fileURLWithPath: path, isDirectory: true), keySource: source, access: access())
  }

  /// The store of a place, opened by the router's key source or by another one.
  func opened(
    _ store: RotatedStore, by source: KeySource? = nil
  ) throws(StorageError) -> RotatedStore.Open {
    switch store {
    case .vault(let file):
      return .records(source.map { makeVault(file, $0) } ?? vault(file))
    case .suite(let name):
      return .records(source.map { makeSuite(name, $0) } ?? suite(name))
    case .keyring(let service, let isOfDevice):
      guard let source else { return .records(try keyring(service, ofDevice: isOfDevice)) }
      return .records(try makeKeyring(service, isOfDevice, source))
    case .folder(let path):
      guard let source else { return .folder(try folder(path)) }
      return .folder(makeFolder(path, source))
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
    case .sealedSuite: return StoredRecord(suite(address.container), address.name)
    case .vault:
      return StoredRecord(
        vault(Self.keychainFile), Self.vaultName(address.container, address.name))
    case .keyring, .deviceKeyring:
      let isOfDevice = address.kind == .deviceKeyring
      return StoredRecord(try keyring(address.container, ofDevice: isOfDevice), address.name)
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
    guard !isInMemory else { throw TestStores.hasNoFile }
  }

  /// The vault of the domain `keychain`.
  static let keychainFile = "keychain.vault"
}
