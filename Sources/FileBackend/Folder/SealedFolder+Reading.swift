internal import CryptoCore
public import StorageCore

public import struct FoundationEssentials.Data

/// What is known of a value without reading it.
public struct SealedFileInfo: Hashable, Sendable {
  /// The name of the value.
  public let name: StoreKey
  /// The length of the value in bytes.
  public let size: Int
}

extension SealedFolder {
  /// How often a read is tried again after the value was replaced during the read.
  private static let attempts = 1000

  /// The value of a name, or nil when there is none.
  ///
  /// The whole value is in memory; for large values use ``reader(named:)``.
  ///
  /// - Throws: `StorageError`: `damaged`, or why the folder can't be read.
  public func read(named name: StoreKey) throws(StorageError) -> Data? {
    guard let reader = try reader(named: name) else { return nil }
    return try reader.read(0..<reader.size)
  }

  /// Opens the value of a name, or nil when there is none.
  ///
  /// After an interrupted rotation, this reads a value that the rotation did not reach from its
  /// first to its last byte before it returns, and keeps 16 bytes in memory for each 64 KiB;
  /// ``reencrypt(progress:)`` ends that.
  ///
  /// - Throws: `StorageError`: `damaged` when the file of the value is gone or is not the one that
  ///   the index names, or why the folder can't be read.
  public func reader(named name: StoreKey) throws(StorageError) -> SealedFileReader? {
    let place = try prepared()
    var missing: BlobID?
    for _ in 0..<Self.attempts {
      guard let entry = try entry(named: name) else { return nil }
      switch entry {
      case .small(let value): return SealedFileReader(name, .small(value))
      case .blob(let blob):
        if let reader = try open(blob, in: place, name) { return reader }
        // The blob was replaced after the index was read, or it is missing: then the index names it
        // twice in a row.
        guard missing != blob.id else { throw Self.missing(blob.id, in: place, name) }
        missing = blob.id
      }
    }
    throw StorageError(.busy, "the value keeps changing; try again", key: name)
  }

  /// Whether a name has a value, even one that can't be read.
  ///
  /// - Throws: `StorageError` when that can't be known.
  public func contains(_ name: StoreKey) throws(StorageError) -> Bool {
    _ = try prepared()
    return try index.contains(name)
  }

  /// The names that have a value, in any order.
  ///
  /// - Throws: `StorageError`: `damaged` when an entry of the index can't be opened: ``listing()``
  ///   gives the others, and ``verify(expecting:progress:)`` says more.
  public func names() throws(StorageError) -> [StoreKey] {
    _ = try prepared()
    return try index.keys()
  }

  /// The names whose entries can be opened, and the number of entries that can't be opened.
  ///
  /// - Throws: `StorageError`: why the folder can't be read.
  public func listing() throws(StorageError) -> KeyListing {
    _ = try prepared()
    return try index.listing()
  }

  /// The length of a value, or nil when there is none; its blob is not looked at.
  ///
  /// - Throws: `StorageError`: `damaged`, or why the folder can't be read.
  public func info(named name: StoreKey) throws(StorageError) -> SealedFileInfo? {
    _ = try prepared()
    return try entry(named: name).map { SealedFileInfo(name: name, size: $0.length) }
  }

  /// Opens the blob of an entry; nil when it is not there.
  ///
  /// A blob that was not sealed since the last rotation is hashed as a whole first: somebody may
  /// have its key.
  func open(
    _ blob: BlobEntry, in place: BlobPlace, _ name: StoreKey
  ) throws(StorageError) -> SealedFileReader? {
    do throws(StorageError) {
      guard let root = try index.store.rootWatch() else {
        throw StorageError(.busy, "the index was emptied meanwhile; try again")
      }
      return try BlobReader(blob, in: place, store: storeID(), under: root).map {
        SealedFileReader(name, .blob($0))
      }
    } catch {
      throw error.about(name)
    }
  }

  static func missing(
    _ id: BlobID, in place: BlobPlace, _ name: StoreKey
  ) -> StorageError {
    StorageError(
      .damaged, "the file of the value is gone; put it back from a backup, or remove the name",
      key: name, path: place.file(of: id))
  }
}
