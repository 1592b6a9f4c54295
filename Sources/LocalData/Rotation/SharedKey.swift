internal import CryptoCore
internal import FoundationEssentials
internal import StorageCore

/// A key that seals many values, and that a rotation replaces: the master key, or the key of a
/// group.
protocol SharedKey: Sendable {
  /// Keeps the key from being replaced between sealing and writing; nil for stores in memory.
  var lock: KeyLock? { get }

  /// The present key; created if none was ever created and `isWriting`.
  ///
  /// - Returns: nil if no key was ever created, so nothing can be sealed under it.
  /// - Throws: `keyUnavailable` if the key is lost, `wrongKey` if it is not the recorded one.
  func material(isWriting: Bool) throws(StorageError) -> SecureBytes?

  /// The former key and its list of values while a rotation seals them again; nil otherwise.
  func former() throws(StorageError) -> FormerKey?
}

extension SharedKey {
  /// Identifies a key; the label says what kind of key it is.
  static func check(of key: SecureBytes, _ label: String) throws(StorageError) -> [UInt8] {
    try cryptography { () throws(CryptoError) in
      try KeyDerivation.hkdf(
        key, salt: [], info: Array(label.utf8), count: 16, hash: .sha256)
    }.withBytes { $0.copied() }
  }

  /// The keys that may open stored bytes: the present one, and the former one if a running rotation
  /// has listed these bytes.
  func materials(
    opening stored: Data, at address: PlaceAddress
  ) throws(StorageError) -> [SecureBytes] {
    guard let present = try material(isWriting: false) else { return [] }
    guard let former = try former(), try former.manifest.accounts(for: stored, at: address) else {
      return [present]
    }
    return [present, former.key]
  }
}

/// A shared key that a rotation can replace.
protocol RotatedKey: SharedKey {
  /// The name of the key in reports and in the ledger.
  var title: String { get }
  /// The folder of its group, to which the addresses in its list are relative; nil for a master
  /// key.
  var group: SharedFolder? { get }

  /// Makes a new key the present one, and lists the values of the old one in the same atomic step.
  ///
  /// The lock is held. If the process dies before the step, nothing has changed.
  func replace(listing list: () throws(StorageError) -> RotationManifest) throws(StorageError)

  /// Drops the former key and its list.
  func dropFormer() throws(StorageError)
}

/// The key that a rotation replaced, while values are still sealed under it.
struct FormerKey: Sendable {
  let key: SecureBytes
  let manifest: RotationManifest
}

/// The values that were sealed under a key at the moment of its replacement.
///
/// Somebody who has the old key can seal values under it. Such a value is not in the list, so it
/// does not open.
struct RotationManifest: Codable, Equatable, Sendable {
  /// The digests of the stored bytes, by address; empty for a place that seals its contents, since
  /// the rotation has replaced the keys of that place before.
  private var digests: [String: Data] = [:]
  /// The path that the addresses are relative to; others may reach a group's folder by another
  /// path.
  private static func label(_ address: PlaceAddress, below root: String?) -> String {
    var label = address
    if let root { label.container.removeFirst(root.count) }
    return label.label
  }
  /// Not stored: whoever reads the list knows the folder.
  var root: String?

  private enum CodingKeys: CodingKey { case digests }

  init(root: String? = nil) { self.root = root }

  /// Adds a value; nil bytes for a place that seals.
  mutating func add(_ address: PlaceAddress, _ stored: Data?) throws(StorageError) {
    digests[Self.label(address, below: root)] = Data(try ValueDigest.ofAny(stored) ?? [])
  }

  /// Whether the bytes were there when the list was made.
  func accounts(for stored: Data, at address: PlaceAddress) throws(StorageError) -> Bool {
    guard let digest = digests[Self.label(address, below: root)] else { return false }
    return try digest.isEmpty
      ? address.kind.isSealing : digest == Data(ValueDigest.of(stored))
  }

  /// The listed values, with every domain that such a place can have; the name of a group's folder
  /// is the id of the group.
  func values(in group: SharedFolder?) -> [SealedValue] {
    digests.keys.sorted().compactMap { label in
      let fields = label.split(separator: "\u{1F}", omittingEmptySubsequences: false).map(
        String.init)
      guard fields.count >= 3, let kind = PlaceAddress.Kind(rawValue: fields[0]) else { return nil }
      let (container, name) = (fields[1], fields.dropFirst(2).joined(separator: "\u{1F}"))
      if let group { return Self.value(kind, container, name, in: group) }
      let address = PlaceAddress(kind: kind, container: container, name: name)
      let url = URL(fileURLWithPath: container, isDirectory: true)
      let directories = [FileDirectory.documents, .caches, .custom(url)]
      switch kind {
      case .file:
        return SealedValue(address, directories.map { .fileSystem(directory: $0) })
      case .sealedFolder:
        return SealedValue(address, directories.map { .encryptedFileSystem(directory: $0) })
      case .sealedSuite: return SealedValue(address, [.userDefaults(suite: container)])
      case .vault, .keyring, .deviceKeyring:
        return SealedValue(address, [.keychain(service: container)])
      case .plainSuite: return SealedValue(address, [.userDefaults])
      }
    }
  }

  private static func value(
    _ kind: PlaceAddress.Kind, _ below: String, _ name: String, in group: SharedFolder
  ) -> SealedValue {
    let isCache = below == "/Caches" || below.hasPrefix("/Caches/")
    let address = PlaceAddress(
      kind: kind, container: group.path + below, name: name, groupRoot: group.groupRoot,
      isPurgeable: isCache)
    let id = FilePath.name(of: group.path)
    return SealedValue(
      address,
      [
        kind == .plainSuite
          ? .appGroupUserDefaults(identifier: id)
          : .appGroupFileSystem(id: id, directory: isCache ? .caches : .documents)
      ])
  }

  /// Reads a list from JSON.
  init(reading json: Data, root: String?) throws(StorageError) {
    do {
      self = try JSONDecoder().decode(Self.self, from: json)
    } catch {
      throw StorageError(
        .damaged, "the list of a rotation can't be read; restore the store from a backup")
    }
    self.root = root
  }

  /// The list as JSON.
  func json() throws(StorageError) -> Data {
    do {
      return try JSONEncoder().encode(self)
    } catch {
      throw StorageError(.invalid, "the list of a rotation can't be written; this is a bug")
    }
  }
}
