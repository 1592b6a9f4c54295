internal import Glibc

/// The stores that need a key file, as far as they are noted.
///
/// Whoever removes an application's data folder removes the key file and its marker, but not a
/// suite in the folder of settings. A new key would then open everything but that suite, for good.
/// So a store that is not beside its key file is noted in a list in the folder of settings, before
/// anything is sealed for it, and no key is made while a noted store exists.
///
/// All other stores are noted in the marker of the key file. While the marker is there without the
/// key file, no key is made at all. Once a store was discarded on purpose and no noted store is
/// left, the marker goes.
package struct KeyDependents: Sendable {
  /// The largest list that is read, in bytes.
  private static let limit = 1 << 20

  private let keyFile: String
  /// The marker of the key file.
  private let marker: String
  /// The list in the folder of settings, which has a path on each line; nil unless the key file is
  /// in an application's data folder.
  private let list: String?

  /// The dependents of the key file at `path`.
  init(ofKeyFile path: String) {
    keyFile = path
    marker = MadeMarker(of: path).path
    let folder = FilePath.folder(of: path)
    let application = FilePath.name(of: folder)
    do throws(StorageError) {
      let isStandard = try StandardFolders.data(application: application) == folder
      list =
        isStandard
        ? try StandardFolders.configuration()
          + "/\(application).needs-\(FilePath.name(of: path))" : nil
    } catch {
      list = nil  // Without these folders no standard store is in one of them.
    }
  }

  /// Notes a store before something is sealed for it.
  ///
  /// - Parameter store: the path of the store's file; for a store in no file, words that no path
  ///   begins with.
  /// - Throws: `StorageError` when the list can't be read or written.
  package func note(_ store: String) throws(StorageError) {
    guard !store.utf8.contains(where: { $0 < 32 }) else { return }
    let isOutside = store.hasPrefix("/") && !store.hasPrefix(FilePath.folder(of: keyFile) + "/")
    guard let list, isOutside else { return try add(store, to: marker) }
    _ = try Folder.create(FilePath.folder(of: list))
    try add(store, to: list, O_CREAT)
  }

  private func add(_ store: String, to list: String, _ flags: Int32 = 0) throws(StorageError) {
    guard try !noted(in: list).contains(store),
      let folder = try FolderDescriptor.open(FilePath.folder(of: list)),
      let file = try OpenFile(
        FilePath.name(of: list), in: folder, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | flags)
    else { return }
    // A line that a killed process left unfinished ends here.
    let prefix = store.hasPrefix("/") ? "" : Self.other
    let line = Array("\n\(prefix)\(store)\n".utf8)
    try unsafe file.write(line.span.bytes)
    try file.synchronize()
    try folder.synchronize()
  }

  /// Refuses to make a key while a store in the list exists that needs the one that is gone.
  ///
  /// - Parameter store: the path of the store for which the key would be made; it holds nothing.
  /// - Throws: `keyUnavailable`, with the path of a store that needs the key.
  func requireNone(besides store: String?) throws(StorageError) {
    guard let list else { return }
    for other in try noted(in: list) where other != store {
      guard try Self.isThere(other) else { continue }
      throw StorageError(
        .keyUnavailable,
        "this store was sealed with a key that is gone, and a new key would never open it. No key was "
          + "made. Put the key file back from a backup. Only if you no longer need the store, discard it "
          + "with discard(), or remove its file", path: other)
    }
  }

  /// Lets the source make a new key, if the old one is gone and no other noted store needs it.
  ///
  /// Nothing happens where no store is noted at all: then nobody knows which stores need the key.
  ///
  /// - Parameter store: the store that was discarded, as it was noted.
  /// - Throws: `StorageError` when the lists can't be read, or the marker can't be removed.
  func allowNewKey(besides store: String) throws(StorageError) {
    guard try FileStatus.ofEntry(keyFile) == nil else { return }
    var all = try noted(in: marker)
    if let list { all += try noted(in: list) }
    guard !all.isEmpty else { return }
    for other in all where other != store {
      guard try !Self.isThere(other) else { return }
    }
    guard let folder = try FolderDescriptor.open(FilePath.folder(of: marker)) else { return }
    if try folder.remove(FilePath.name(of: marker)) { try folder.synchronize() }
  }

  /// Begins the line of a store in no file.
  private static let other = "- "

  /// Whether a noted store exists; of a store in no file, nobody can tell, so it counts.
  private static func isThere(_ store: String) throws(StorageError) -> Bool {
    guard store.hasPrefix("/") else { return true }
    // A line that a killed process left unfinished may be the path of a folder.
    guard let status = try FileStatus.ofEntry(store) else { return false }
    return !status.isFolder
  }

  private func noted(in list: String) throws(StorageError) -> [String] {
    guard let file = try OpenFile(list, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY) else {
      return []
    }
    let text = String(decoding: try file.readAll(limit: Self.limit), as: UTF8.self)
    return text.split(separator: "\n").compactMap { line in
      if line.hasPrefix("/") { return String(line) }
      return line.hasPrefix(Self.other) ? String(line.dropFirst(Self.other.count)) : nil
    }
  }
}
