internal import DefaultsBackend
internal import FoundationEssentials
internal import StorageCore

/// A value that may be sealed under a shared key, found without its declaration: its envelope has
/// the rest.
struct SealedValue: Hashable, Sendable {
  let address: PlaceAddress
  /// The domains that the value may be of, the likeliest first.
  let domains: [StorageDomain]
  /// Whether the ledger or a declaration names the value, so that this program may trust its form.
  let isKnown: Bool

  var domain: StorageDomain { domains[0] }
  var name: String { address.name }
  /// The domain and the name, for reports.
  var title: String { "\(domain)/\(name)" }

  init(_ address: PlaceAddress, _ domain: StorageDomain) {
    self.init(address, [domain], isKnown: true)
  }

  /// A value that may be of any of these domains; there is at least one.
  init(_ address: PlaceAddress, _ domains: [StorageDomain], isKnown: Bool = false) {
    self.address = address
    self.domains = domains
    self.isKnown = isKnown
  }
}

/// The values in the folder of a group, of all programs that share it.
struct GroupValues {
  let folder: SharedFolder
  /// The ids that programs may give the group.
  let groups: [String]

  /// Lists the entries of the group's property list, and the files in its documents and caches.
  ///
  /// Values that are not sealed are listed, too.
  func all() throws(StorageError) -> [SealedValue] {
    var values: [SealedValue] = []
    if let bytes = try folder.read(Self.settings) {
      let settings = folder.path + "/" + Self.settings
      for entry in try PlainPropertyList.entries(of: bytes).keys.sorted() {
        guard let name = FileName.unescape(entry) else { continue }
        values.append(
          SealedValue(
            PlaceAddress(
              kind: .plainSuite, container: settings, name: name, groupRoot: folder.groupRoot),
            groups.map { .appGroupUserDefaults(identifier: $0) }))
      }
    }
    for directory in [FileDirectory.documents, .caches] {
      let domains = groups.map { StorageDomain.appGroupFileSystem(id: $0, directory: directory) }
      let path = folder.path + (directory == .documents ? "/Documents" : "/Caches")
      for below in try [path] + Self.subfolders(of: path) {
        for file in try Self.names(in: below) {
          guard let name = FileName.decode(file) else { continue }
          let address = PlaceAddress(
            kind: .file, container: below, name: name, groupRoot: folder.groupRoot,
            isPurgeable: directory == .caches)
          values.append(SealedValue(address, domains))
        }
      }
    }
    return values
  }

  private static let settings = "defaults.plist"

  /// The folders that programs choose as their `subDirectory`; links don't count.
  private static func subfolders(of path: String) throws(StorageError) -> [String] {
    var folders: [String] = []
    for name in try entries(of: path) where !name.hasPrefix(".") {
      let below = path + "/" + name
      if try FileStatus.ofEntry(below)?.isFolder == true { folders.append(below) }
    }
    return folders
  }

  /// The names of the regular files in a folder; nothing else can be a value.
  private static func names(in path: String) throws(StorageError) -> [String] {
    var files: [String] = []
    for name in try entries(of: path)
    where try FileStatus.ofEntry(path + "/" + name)?.isRegular == true { files.append(name) }
    return files
  }

  private static func entries(of path: String) throws(StorageError) -> [String] {
    guard try FileStatus.ofEntry(path)?.isFolder == true else { return [] }
    return try FolderDescriptor.existing(path).names().sorted()
  }
}
