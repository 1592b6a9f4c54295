internal import CryptoCore
internal import Glibc

/// The stores that need a key file, as far as they are noted.
///
/// Whoever removes an application's data folder removes the key file and its marker, but not a
/// suite in the folder of settings. A new key would then open everything but that suite, for good.
/// So a store that is not beside its key file is noted in a list in the folder of settings, before
/// anything is sealed for it, and no key is made while a noted store exists. A store that no longer
/// opens with the key file is crossed out.
///
/// Stores beside the key file are noted in its marker, and so are all where there is no list. While
/// the marker is there without the key file, no key is made at all. Once a store was discarded on
/// purpose and no noted store is left, the marker goes.
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
    do throws(StorageError) {
      list = try Self.list(ofKeyFile: path)
    } catch {
      list = nil  // Without these folders no standard store is in one of them.
    }
  }

  private static func list(ofKeyFile path: String) throws(StorageError) -> String? {
    let folder = FilePath.folder(of: path)
    let application = FilePath.name(of: folder)
    guard try StandardFolders.data(application: application) == folder else { return nil }
    // The last part of a folder that systemd gave is not the name of the application.
    let isOwn = try StandardFolders.sharedData() == FilePath.folder(of: folder)
    let name = isOwn ? application : application + "-" + mark(of: folder)
    return try StandardFolders.configuration() + "/\(name).needs-\(FilePath.name(of: path))"
  }

  /// Sixteen digits that tell folders of the same name apart: FNV-1a.
  private static func mark(of folder: String) -> String {
    let hash = folder.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
      (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// Notes a store before something is sealed for it.
  ///
  /// - Parameter store: the path of the store's file; for a store in no file, words that no path
  ///   begins with.
  /// - Throws: `StorageError` when the list can't be read or written.
  package func note(_ store: String) throws(StorageError) {
    guard let list, store.hasPrefix("/") else { return try add(store, to: marker) }
    guard !isBeside(store) else { return try add(store, to: marker) }
    if try noted(in: list).contains(ExactString(text: store)) { return }
    _ = try Folder.create(FilePath.folder(of: list))
    try add(store, to: list, O_CREAT)
  }

  private func isBeside(_ store: String) -> Bool {
    store.hasPrefix(FilePath.folder(of: keyFile) + "/")
  }

  /// Crosses out a store that no longer opens with the key file.
  ///
  /// - Throws: `StorageError` when the list can't be read or written; the store then stays noted.
  func forget(_ store: String) throws(StorageError) {
    for list in [list, marker].compactMap(\.self)
    where try noted(in: list).contains(ExactString(text: store)) {
      try append(Self.crossedOut + Self.line(of: store), to: list)
    }
  }

  private func add(_ store: String, to list: String, _ flags: Int32 = 0) throws(StorageError) {
    guard try !noted(in: list).contains(ExactString(text: store)) else { return }
    try append(Self.line(of: store), to: list, flags)
  }

  private func append(_ text: String, to list: String, _ flags: Int32 = 0) throws(StorageError) {
    guard let folder = try FolderDescriptor.open(FilePath.folder(of: list)),
      let file = try OpenFile(
        FilePath.name(of: list), in: folder, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | flags)
    else { return }
    // A line that a killed process left unfinished ends here.
    let line = Array("\n\(text)\n".utf8)
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
    let own = store.map(ExactString.init)
    for other in try noted(in: list) where other != own {
      guard try Self.isThere(other.text) else { continue }
      throw StorageError(
        .keyUnavailable,
        "this is noted as a store that needs the key which is gone, and a new key would never open it. No "
          + "key was made. Put the key file back from a backup. Only if you no longer need the store, "
          + "discard it with discard(), or remove its file", path: other.text)
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
    if let list { all.formUnion(try noted(in: list)) }
    guard !all.isEmpty else { return }
    for other in all where other != ExactString(text: store) {
      guard try !Self.isThere(other.text) else { return }
    }
    guard let folder = try FolderDescriptor.open(FilePath.folder(of: marker)) else { return }
    if try folder.remove(FilePath.name(of: marker)) { try folder.synchronize() }
  }

  /// Begins the line of a store in no file.
  private static let other = "- "
  /// Begins the line of a path with bytes that a line can't hold, as `%` and two digits each.
  private static let encoded = "%"
  /// Begins a line that takes back an earlier one.
  private static let crossedOut = "!"

  /// The line of a store.
  private static func line(of store: String) -> String {
    guard store.hasPrefix("/") else { return other + store }
    guard store.utf8.contains(where: { $0 < 32 }) else { return store }
    return encoded
      + store.unicodeScalars.map { scalar in
        scalar.value < 32 || scalar == "%"
          ? "%" + Hexadecimal.encode([UInt8(scalar.value)]) : String(scalar)
      }.joined()
  }

  /// The store of a line; nil for a line that names none.
  private static func store(of line: Substring) -> String? {
    if line.hasPrefix("/") { return String(line) }
    if line.hasPrefix(other) { return String(line.dropFirst(other.count)) }
    guard line.hasPrefix(encoded) else { return nil }
    var parts = line.dropFirst(encoded.count).split(
      separator: "%", omittingEmptySubsequences: false)[...]
    var bytes = Array((parts.popFirst() ?? "").utf8)
    for part in parts {
      guard let byte = Hexadecimal.decode(part.prefix(2)) else { return nil }
      bytes += byte + part.dropFirst(2).utf8
    }
    return SystemText.exact(bytes)
  }

  /// Whether a noted store exists; of a store in no file, nobody can tell, so it counts.
  private static func isThere(_ store: String) throws(StorageError) -> Bool {
    guard store.hasPrefix("/") else { return true }
    do throws(StorageError) {
      // A line that a killed process left unfinished may be the path of a folder.
      guard let status = try FileStatus.ofEntry(store) else { return false }
      return !status.isFolder
    } catch {
      // A folder on the way has become a file.
      if error.number == Int(ENOTDIR) { return false }
      throw error
    }
  }

  private func noted(in list: String) throws(StorageError) -> Set<ExactString> {
    guard let file = try OpenFile(list, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY) else {
      return []
    }
    let bytes = try file.readAll(limit: Self.limit)
    var stores: Set<ExactString> = []
    // A line that is no text is none of ours.
    for line in bytes.split(separator: UInt8(ascii: "\n")).compactMap({ SystemText.exact($0) }) {
      let isCrossedOut = line.hasPrefix(Self.crossedOut)
      guard let store = Self.store(of: line.dropFirst(isCrossedOut ? 1 : 0)) else { continue }
      if isCrossedOut {
        stores.remove(ExactString(text: store))
      } else {
        stores.insert(ExactString(text: store))
      }
    }
    return stores
  }
}
