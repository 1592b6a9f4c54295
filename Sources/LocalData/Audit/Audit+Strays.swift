internal import DefaultsBackend
internal import FileBackend
internal import FoundationEssentials
internal import Glibc
internal import StorageCore
internal import VaultBackend

/// Finds stored data that no key declares.
extension Audit {
  /// The address of a whole place that several keys share.
  private func shared(_ address: PlaceAddress) -> PlaceAddress {
    var container = address.named("")
    if address.kind == .vault { container.container = "" }
    return container
  }

  /// Searches the standard places, and those of the declared keys and of the ledger's entries.
  mutating func lookForStrays(_ addresses: [PlaceAddress]) {
    let all = Set((addresses + recorded.map(\.address) + standardAddresses()).map { shared($0) })
    let containers = all.sorted { $0.order.lexicographicallyPrecedes($1.order) }
    for container in containers {
      do throws(StorageError) {
        guard try isThere(container, containers) else { continue }
        try lookThrough(container, containers)
      } catch {
        close(container, error)
      }
    }
  }

  /// The standard places, where a former release of the program may have left data.
  private func standardAddresses() -> [PlaceAddress] {
    var domains: [StorageDomain] = [
      .userDefaults, .keychain(service: nil), .fileSystem(directory: .documents),
      .fileSystem(directory: .caches), .encryptedFileSystem(directory: .documents),
      .encryptedFileSystem(directory: .caches),
    ]
    var groups = Set(configuration.groupFolders.keys)
    if let id = configuration.defaultAppGroupIdentifier { groups.insert(id) }
    for id in groups.sorted() {
      domains += [
        .appGroupUserDefaults(identifier: id), .appGroupFileSystem(id: id, directory: .documents),
        .appGroupFileSystem(id: id, directory: .caches),
      ]
    }
    var addresses: [PlaceAddress] = []
    for domain in domains {
      for isPlain in [true, false] {
        // A missing folder in the configuration is already reported for the keys that need it.
        do throws(StorageError) {
          addresses.append(try addressing.address(of: "x", in: domain, isPlain: isPlain))
        } catch { continue }
      }
    }
    return addresses
  }

  private func isThere(
    _ container: PlaceAddress, _ all: [PlaceAddress]
  ) throws(StorageError) -> Bool {
    guard container.kind == .file else { return try isThere(container) }
    guard !places.isInMemory else { return false }
    return try FileStatus.of(container.container)?.isFolder ?? false
  }

  private mutating func lookThrough(
    _ container: PlaceAddress, _ all: [PlaceAddress]
  ) throws(StorageError) {
    try checkRights(container)
    switch container.kind {
    case .file: try lookThroughFolder(container, all)
    case .plainSuite: try lookThroughPlainSuite(container)
    case .sealedSuite: try lookThroughSuite(container)
    case .vault:
      try lookThroughVault(places.vault(Places.keychainFile), container)
    case .sealedFolder: try lookThroughSealedFolder(container)
    case .keyring, .deviceKeyring: try lookThroughKeyring(container)
    }
  }

  /// Reports a file that more users can access than should.
  private mutating func checkRights(_ container: PlaceAddress) throws(StorageError) {
    guard container.kind != .file, !places.isInMemory, let path = try places.path(of: container),
      let status = try FileStatus.ofEntry(path)
    else { return }
    checkRights(path, status, nil)
  }

  private mutating func checkRights(
    _ path: String, _ status: FileStatus, _ key: StorageKeyDescriptor?
  ) {
    guard status.isRegular, status.permissions & 0o077 != 0 else { return }
    let mode = String(status.permissions & 0o777, radix: 8)
    findings.append(
      StorageAuditFinding(
        .rights, domain: key?.domain, name: key?.name, place: path,
        "its mode is \(mode), so others than its owner can use it"))
  }

  // MARK: - Files

  private mutating func lookThroughFolder(
    _ container: PlaceAddress, _ all: [PlaceAddress]
  ) throws(StorageError) {
    let place = SharedFolder(path: container.container, groupRoot: container.groupRoot)
    guard let folder = try place.opened() else { return }
    for file in try Self.names(in: folder) {
      let path = folder.path(of: file)
      guard !Self.ownFiles.contains(file), let status = try folder.status(of: file) else {
        continue
      }
      let isOfPlace = all.contains {
        $0.container == path || $0.container.hasPrefix(path + "/")
      }
      guard !isOfPlace else { continue }
      let name = status.isRegular ? FileName.decode(file) : nil
      let key = name.flatMap { declared[container.named($0)] }
      checkRights(path, status, key)
      guard key == nil else { continue }
      addStray(name ?? file, path, container, try Self.words(of: file, status, in: folder))
    }
  }

  /// The files that our places keep in a folder, besides the files of keys.
  private static let ownFiles: Set<String> = [
    ".lock", ".new", ".sealed", CacheTag.name, GroupKey.file, GroupKey.marker, GroupKey.rotation,
    KeyLock.groupFile, FolderIDs.file,
  ]

  private static func names(in folder: FolderDescriptor) throws(StorageError) -> [String] {
    do throws(StorageError) {
      return try folder.names().sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    } catch {
      throw StorageError(.denied, "this user can't list the folder", path: folder.path)
    }
  }

  private static func words(
    of file: String, _ status: FileStatus, in folder: FolderDescriptor
  ) throws(StorageError) -> String {
    guard status.isRegular else {
      return status.isFolder
        ? "a folder that no key declares" : "not a regular file, and no key declares it"
    }
    let size = AuditText.count(status.size, "byte")
    var head: [UInt8] = []
    do throws(StorageError) {
      guard let first = try folder.readFirst(Envelope.mark.count, of: file) else {
        return "a file that no key declares"
      }
      head = first
    } catch {
      return "a file of \(size) that no key declares and this user can't read"
    }
    return "a \(head == Envelope.mark ? "sealed" : "readable") file of \(size) that no key declares"
  }

  // MARK: - Suites

  private mutating func lookThroughPlainSuite(
    _ container: PlaceAddress
  ) throws(StorageError) {
    let path = container.container
    let folder = SharedFolder(path: FilePath.folder(of: path), groupRoot: container.groupRoot)
    guard let bytes = try folder.read(FilePath.name(of: path)) else { return }
    let entries = try PlainPropertyList.entries(of: bytes)
    for (entry, value) in entries.sorted(by: { $0.key < $1.key }) {
      let name = FileName.decode(entry) ?? entry
      guard declared[container.named(name)] == nil else { continue }
      let isSealed = value.starts(with: Envelope.mark)
      addStray(
        name, container.description, container,
        "a \(isSealed ? "sealed" : "readable") entry of \(AuditText.count(value.count, "byte")) that no key "
          + "declares")
    }
  }

  private mutating func lookThroughSuite(_ container: PlaceAddress) throws(StorageError) {
    do throws(StorageError) {
      try lookThroughRecords(places.suite(container.container), container)
    } catch {
      if error.code == .damaged { try nameForeignEntries(container) }
      throw error
    }
  }

  /// Names the entries of a sealed suite that are not records: one such entry makes the whole suite
  /// `damaged`.
  private mutating func nameForeignEntries(_ container: PlaceAddress) throws(StorageError) {
    guard !places.isInMemory, let path = try places.path(of: container) else { return }
    let folder = SharedFolder(path: FilePath.folder(of: path))
    guard let bytes = try folder.read(FilePath.name(of: path)) else { return }
    let entries: [String: [UInt8]]
    // A file that is not a property list was already reported.
    do throws(StorageError) { entries = try PlainPropertyList.entries(of: bytes) } catch { return }
    for (entry, value) in entries.sorted(by: { $0.key < $1.key }) {
      let isHash = entry.count == 128 && entry.allSatisfy(\.isHexDigit)
      guard !isHash, entry != "SecurePropertyStorage" else { continue }
      findings.append(
        StorageAuditFinding(
          .plaintext, name: entry, place: container.description,
          "an entry of \(AuditText.count(value.count, "byte")) in a sealed suite that is not a record, so the "
            + "whole suite is refused; remove the entry"))
    }
  }

  /// Compares the names in a storage with the declared keys, and counts records whose name is
  /// unreadable.
  private mutating func lookThroughRecords(
    _ storage: DelegatedStorage, _ container: PlaceAddress
  ) throws(StorageError) {
    let listing = try storage.listing()
    for name in listing.keys.sorted() where declared[container.named(name)] == nil {
      addStray(name, container.description, container, try Self.words(of: name, in: storage))
    }
    addUnreadable(listing.unreadable, container)
  }

  private static func words(
    of name: String, in storage: DelegatedStorage
  ) throws(StorageError) -> String {
    let size = try storage.summary(forKey: name).map { AuditText.count($0.byteCount, "byte") }
    return "a sealed entry\(size.map { " of \($0)" } ?? "") that no key declares"
  }

  /// Reports the records that can't be opened, without those of declared keys, which are already
  /// reported.
  private mutating func addUnreadable(_ count: Int, _ container: PlaceAddress) {
    let place = container.storeDescription
    let named = Set(
      findings.filter { $0.kind == .damaged && $0.name != nil && $0.place.hasPrefix(place) }
        .map { [$0.domain, $0.name] }
    ).count
    let rest = count - (container.kind == .vault ? damagedInVault : named)
    guard rest > 0 else { return }
    findings.append(
      StorageAuditFinding(
        .damaged, place: place,
        "\(AuditText.count(rest, "record")) of no declared key can't be opened, so "
          + "\(rest == 1 ? "its name is" : "their names are") not known"))
  }

  private var damagedInVault: Int {
    Set(
      entries.filter { $0.state == .unreadable && $0.place?.hasPrefix("the vault,") == true }
        .map { [$0.key.domain.description, $0.key.name] }
    ).count
  }

  // MARK: - Vaults

  private mutating func lookThroughVault(
    _ storage: DelegatedStorage, _ container: PlaceAddress
  ) throws(StorageError) {
    let names = Dictionary(
      declared.filter { $0.key.kind == .vault }.map {
        (Places.vaultName($0.key.container, $0.key.name), $0.value)
      }, uniquingKeysWith: { first, _ in first })
    let domains = Dictionary(
      recorded.filter { $0.address.kind == .vault }.map {
        (Places.vaultName($0.address.container, $0.address.name), $0)
      }, uniquingKeysWith: { first, _ in first })
    let master = MasterKeyID(.vault, configuration.encryption).address
    let listing = try storage.listing()
    for name in listing.keys.sorted() {
      guard names[name] == nil, name != Places.vaultName(master.container, master.name) else {
        continue
      }
      let known = domains[name]
      findings.append(
        StorageAuditFinding(
          .stray, domain: known?.domain.domain, name: known?.name ?? name,
          place: container.storeDescription, try Self.words(of: name, in: storage)))
    }
    addUnreadable(listing.unreadable, container)
    guard let vault = storage as? VaultStorage, !places.isInMemory else { return }
    add(try vault.verify(), container)
  }

  /// Adds the vault's own findings besides damaged records: removed records, and older ones put
  /// back.
  private mutating func add(_ report: VaultReport, _ container: PlaceAddress) {
    for finding in report.findings where finding.kind != .damagedRecord {
      findings.append(
        StorageAuditFinding(
          .damaged, place: container.storeDescription,
          "\(finding.kind.rawValue): \(finding.message)"))
    }
  }

  // MARK: - Sealed folders

  private mutating func lookThroughSealedFolder(
    _ container: PlaceAddress
  ) throws(StorageError) {
    let folder = try places.folder(container.container)
    try lookThroughRecords(folder.index, container)
    let report = try folder.verify()
    add(report.index, container)
    for finding in report.findings {
      // Damaged values of declared keys were found when they were read; cache files may disappear.
      if let name = finding.name, declared[container.named(name)] != nil { continue }
      if container.isPurgeable, finding.kind == .missingBlob { continue }
      findings.append(
        StorageAuditFinding(
          finding.kind == .unnamedBlob ? .stray : .damaged, name: finding.name,
          place: finding.path ?? container.description, finding.message))
    }
    guard report.oldBlobCount > 0 else { return }
    findings.append(
      StorageAuditFinding(
        .oldKey, place: container.description,
        "\(AuditText.count(report.oldBlobCount, "file")) of values not sealed since the last rotation"
      ))
  }

  // MARK: - Keyrings

  private mutating func lookThroughKeyring(_ container: PlaceAddress) throws(StorageError) {
    let isOfDevice = container.kind == .deviceKeyring
    let storage = try places.keyring(container.container, ofDevice: isOfDevice)
    let master = MasterKeyID(keychain, configuration.encryption).address
    declared[master] = declared[master] ?? .masterKey
    defer { if declared[master] == .masterKey { declared[master] = nil } }
    try lookThroughRecords(storage, container)
  }

  private mutating func addStray(
    _ name: String, _ place: String, _ container: PlaceAddress, _ words: String
  ) {
    let address = container.named(name)
    let known = recorded.first { $0.address == address }
    findings.append(
      StorageAuditFinding(.stray, domain: known?.domain.domain, name: name, place: place, words))
  }
}

extension PlaceAddress {
  fileprivate var order: [String] { [kind.rawValue, container, groupRoot ?? "", "\(isPurgeable)"] }
}

extension StorageKeyDescriptor {
  /// A stand-in for the master key, which no catalog declares.
  fileprivate static let masterKey = StorageKeyDescriptor(
    name: "", domain: .keychain(service: nil), security: .none, serializer: "", valueType: "",
    owner: "", description: "", availability: .all, syncPolicy: .never)
}
