internal import FoundationEssentials
internal import StorageCore

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
  ///
  /// Not stored: whoever reads the list knows the folder.
  var root: String?

  private enum CodingKeys: CodingKey { case digests }

  init(root: String? = nil) { self.root = root }

  private static func label(_ address: PlaceAddress, below root: String?) -> String {
    var label = address
    if let root { label.container.removeFirst(root.count) }
    return label.label
  }

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
