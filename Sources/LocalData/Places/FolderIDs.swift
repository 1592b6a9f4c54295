internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.URL

/// The ids of custom folders: the sealed values in a folder are bound to its id.
///
/// The ledger, which is sealed, says which folder has which id. The file in the folder only carries
/// the id to another program that uses the folder too. So whoever can write to two folders, but
/// can't write the ledger, can't make the values of one folder open in the other.
struct FolderIDs: Sendable {
  /// Nil if there is no ledger yet, and none may be created.
  let ledger: Ledger?

  static let file = ".folder.id"
  private static let size = 16

  /// The id of a folder; nil if it has none, which happens only for reading.
  ///
  /// - Throws: `configurationConflict` if the file names the id that the ledger has for another
  ///   folder.
  func id(of path: String, isWriting: Bool) throws(StorageError) -> [UInt8]? {
    let folder = SharedFolder(path: path)
    if let known = try ledger?.folder(path) {
      if isWriting, try !folder.contains(Self.file) { _ = try make(known, in: folder) }
      return known
    }
    var id = try Self.read(folder)
    if let id { try requireUnknown(id, path) }
    guard isWriting, let ledger else { return id }
    if id == nil {
      let new = try cryptography { () throws(CryptoError) in
        try SecureRandom.publicBytes(count: Self.size)
      }
      id = try make(new, in: folder)
    }
    guard let id else { return nil }
    return try ledger.recordIfAbsent(id, ofFolder: path)
  }

  /// Accepts the id in the folder's file because the program asks for that, even if another folder
  /// had it.
  func adopt(_ path: String) throws(StorageError) {
    guard let ledger, try FileStatus.of(path) != nil else { return }
    guard let id = try Self.inFile(of: path) else { return }
    for (other, known) in try ledger.folders() where other != path && known == id {
      try ledger.moveEntries(from: other, to: path)
      try ledger.forget(folder: other)
    }
    try ledger.record(id, ofFolder: path)
  }

  private func requireUnknown(_ id: [UInt8], _ path: String) throws(StorageError) {
    guard let ledger else { return }
    for (other, known) in try ledger.folders() where other != path && known == id {
      throw StorageError(
        .configurationConflict,
        "the folder has the id of the folder \(other). If you moved it here, call adoptFolder(at:). If it "
          + "is a copy, remove the file \(Self.file) from it, and store its values again",
        path: path)
    }
  }

  /// The id in the file of a folder; nil if there is no file.
  static func inFile(of path: String) throws(StorageError) -> [UInt8]? {
    try read(SharedFolder(path: path))
  }

  private static func read(_ folder: SharedFolder) throws(StorageError) -> [UInt8]? {
    guard let bytes = try folder.read(file) else { return nil }
    guard bytes.count == 2 * size + 1, bytes.last == 10,
      let id = Hexadecimal.decode(String(decoding: bytes.dropLast(), as: UTF8.self))
    else {
      throw StorageError(
        .damaged, "the file does not hold a folder's id; restore it from a backup, or remove it",
        path: folder.path + "/" + Self.file)
    }
    return id
  }

  /// Creates the file, unless another program was first; returns the id in it.
  private func make(_ id: [UInt8], in folder: SharedFolder) throws(StorageError) -> [UInt8]? {
    try folder.locked { (locked) throws(StorageError) in
      guard try !folder.contains(Self.file) else { return }
      try locked.write(Array(Hexadecimal.encode(id).utf8) + [10], to: Self.file)
    }
    return try Self.read(folder)
  }
}

extension Ledger {
  private static let folderPrefix = "folder:"

  /// The id of a folder.
  func folder(_ path: String) throws(StorageError) -> [UInt8]? {
    try storage.load([UInt8].self, forKey: Self.folderPrefix + path)
  }

  /// The ids of all folders with their paths.
  func folders() throws(StorageError) -> [(path: String, id: [UInt8])] {
    var folders: [(String, [UInt8])] = []
    for key in try storage.keys() where key.hasPrefix(Self.folderPrefix) {
      let path = String(key.dropFirst(Self.folderPrefix.count))
      if let id = try folder(path) { folders.append((path, id)) }
    }
    return folders
  }

  /// Records the id of a folder, unless it has one; returns the recorded id.
  func recordIfAbsent(_ id: [UInt8], ofFolder path: String) throws(StorageError) -> [UInt8] {
    try storage.saveIfAbsent(id, forKey: Self.folderPrefix + path)
    return try folder(path) ?? id
  }

  func record(_ id: [UInt8], ofFolder path: String) throws(StorageError) {
    try storage.save(id, forKey: Self.folderPrefix + path)
  }

  /// Moves the entries of a folder's keys, after the folder was moved.
  ///
  /// A key of the new place that has an entry keeps it.
  func moveEntries(from old: String, to new: String) throws(StorageError) {
    for entry in try entries() where entry.address.container == old {
      guard let domain = entry.domain.domain.inFolder(new) else { continue }
      var moved = entry
      moved.domain = DomainText(domain)
      moved.address = PlaceAddress(
        kind: entry.address.kind, container: new, name: entry.name,
        groupRoot: entry.address.groupRoot, isPurgeable: entry.address.isPurgeable)
      try move(entry, to: moved, domain)
    }
  }

  func forget(folder path: String) throws(StorageError) {
    try storage.delete(forKey: Self.folderPrefix + path)
  }
}

extension StorageDomain {
  /// The same domain in another custom folder; `path` may be the path of its sealed folder.
  ///
  /// Nil for other domains.
  fileprivate func inFolder(_ path: String) -> StorageDomain? {
    switch kind {
    case .fileSystem(.custom):
      return .fileSystem(directory: .custom(URL(fileURLWithPath: path, isDirectory: true)))
    case .encryptedFileSystem(.custom):
      let folder = FilePath.folder(of: path)
      return .encryptedFileSystem(
        directory: .custom(URL(fileURLWithPath: folder, isDirectory: true)))
    default: return nil
    }
  }
}
