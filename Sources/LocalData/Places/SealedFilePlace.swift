internal import FileBackend
internal import StorageCore

internal import struct FoundationEssentials.Data

/// A value in a sealed folder.
struct SealedFilePlace: ValuePlace {
  let folder: SealedFolder
  let name: String
  /// The folder that contains the sealed folder.
  let parent: String
  /// Whether a missing blob counts as absent, as in a cache that somebody cleaned.
  let isPurgeable: Bool

  func read() throws(StorageError) -> Data? {
    try unlessPurged { () throws(StorageError) in try folder.read(named: name) }
  }

  func write(_ bytes: Data) throws(StorageError) {
    try leaveTag()
    try folder.write(bytes, named: name)
  }

  /// Marks the folder around the sealed folder as a cache.
  private func leaveTag() throws(StorageError) {
    guard isPurgeable, try !SharedFolder(path: parent).contains(CacheTag.name) else { return }
    try SharedFolder(path: parent).locked { (folder) throws(StorageError) in
      try CacheTag.leave(in: folder)
    }
  }

  func remove() throws(StorageError) { try folder.remove(name) }

  func contains() throws(StorageError) -> Bool {
    guard isPurgeable else { return try folder.contains(name) }
    do throws(StorageError) {
      return try folder.reader(named: name) != nil
    } catch {
      return try !isPurged(error)
    }
  }

  func replace(_ old: Data?, by new: Data?) throws(StorageError) -> Bool {
    if new != nil { try leaveTag() }
    return try storageErrors {
      // The closure runs again if another writer changed the entry meanwhile, even if its blob is
      // gone.
      try folder.transaction { transaction in
        guard try read(in: transaction) == old else { return false }
        if let new {
          try transaction.write(new, named: name)
        } else {
          try transaction.remove(name)
        }
        return true
      }
    }
  }

  private func read(in transaction: SealedFolderTransaction) throws(StorageError) -> Data? {
    try unlessPurged { () throws(StorageError) in try transaction.read(named: name) }
  }

  private func unlessPurged(
    _ read: () throws(StorageError) -> Data?
  ) throws(StorageError) -> Data? {
    do throws(StorageError) {
      return try read()
    } catch {
      guard try isPurged(error) else { throw error }
      return nil
    }
  }

  func observe(_ onChange: @escaping @Sendable () -> Void) -> ChangeObservation {
    follow(folder.index, name, onChange)
  }

  /// Whether the error is about a missing blob, in a folder where blobs may disappear.
  private func isPurged(_ error: StorageError) throws(StorageError) -> Bool {
    guard isPurgeable, error.code == .damaged, let path = error.path else { return false }
    return try FileStatus.ofEntry(path) == nil
  }
}
