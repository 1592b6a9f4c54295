internal import Glibc

/// The stores outside the folder of a key file that need its key.
///
/// Whoever removes an application's data folder removes the key file and its marker, but not a
/// suite in the folder of settings. A new key would then open everything but that suite, for good.
/// So a store that is not beside its key file is noted in a list in the folder of settings, before
/// anything is sealed for it, and no key is made while a noted store exists.
package struct KeyDependents: Sendable {
  /// The largest list that is read, in bytes.
  private static let limit = 1 << 20

  /// The path of the list, which has a path on each line.
  private let list: String
  /// The folder of the key file; stores in it are removed with it.
  private let keyFolder: String

  /// The dependents of the key file at `path`; nil unless the file is in an application's data
  /// folder.
  init?(ofKeyFile path: String) {
    keyFolder = FilePath.folder(of: path)
    let application = FilePath.name(of: keyFolder)
    do throws(StorageError) {
      guard try StandardFolders.data(application: application) == keyFolder else { return nil }
      list =
        try StandardFolders.configuration()
        + "/\(application).needs-\(FilePath.name(of: path))"
    } catch {
      return nil  // Without these folders no standard store is in one of them.
    }
  }

  /// Notes a store before something is sealed for it.
  ///
  /// - Parameter store: the path of the store's file; nothing is noted for a store in no file, or
  ///   in the folder of the key file.
  /// - Throws: `StorageError` when the list can't be read or written.
  func note(_ store: String?) throws(StorageError) {
    guard let store, store.hasPrefix("/"), !store.hasPrefix(keyFolder + "/"),
      !store.utf8.contains(where: { $0 < 32 }), try !noted().contains(store)
    else { return }
    let folder = try Folder.create(FilePath.folder(of: list))
    let flags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY
    guard let file = try OpenFile(FilePath.name(of: list), in: folder, flags) else { return }
    // A line that a killed process left unfinished ends here.
    let line = Array("\n\(store)\n".utf8)
    try unsafe file.write(line.span.bytes)
    try file.synchronize()
    try folder.synchronize()
  }

  /// Refuses to make a key while a store exists that needs the one that is gone.
  ///
  /// - Parameter store: the path of the store for which the key would be made; it holds nothing.
  /// - Throws: `keyUnavailable`, with the path of a store that needs the key.
  func requireNone(besides store: String?) throws(StorageError) {
    for other in try noted() where other != store {
      // A line that a killed process left unfinished may be the path of a folder.
      guard let status = try FileStatus.ofEntry(other), !status.isFolder else { continue }
      throw StorageError(
        .keyUnavailable,
        "this store was sealed with a key that is gone, and a new key would never open it. No key was "
          + "made. Put the key file back from a backup. Only if you no longer need the store, remove "
          + "its file", path: other)
    }
  }

  private func noted() throws(StorageError) -> [String] {
    guard let file = try OpenFile(list, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY) else {
      return []
    }
    let text = String(decoding: try file.readAll(limit: Self.limit), as: UTF8.self)
    return text.split(separator: "\n").map(String.init).filter { $0.hasPrefix("/") }
  }
}
