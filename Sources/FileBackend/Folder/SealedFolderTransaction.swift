public import CryptoCore
public import StorageCore

public import struct FoundationEssentials.Data

/// Reads and writes of a sealed folder that take effect together or not at all.
///
/// The body of ``SealedFolder/transaction(deadline:_:)`` gets it.
///
/// Values are sealed at once, into blobs that have no name until the body has ended. After that
/// every call throws `invalid`. In a child of fork(2) every call and the end of the transaction
/// throw `unavailable`, and leave the parent's values alone. Not for several threads at once.
public final class SealedFolderTransaction {
  private let folder: SealedFolder
  private let place: BlobPlace
  private let entries: StorageTransaction
  private var blobs: [BlobID: TouchedBlob] = [:]
  /// The names that were written or removed, perhaps more than once.
  private var changed: [StoreKey] = []
  private let process = OwnProcess()

  init(_ folder: SealedFolder, _ place: BlobPlace, _ entries: StorageTransaction) {
    self.folder = folder
    self.place = place
    self.entries = entries
  }

  // MARK: - Calls

  /// The value of a name, or nil when there is none.
  ///
  /// - Throws: `StorageError`: as ``SealedFolder/read(named:)``.
  public func read(named name: StoreKey) throws(StorageError) -> Data? {
    guard let reader = try reader(named: name) else { return nil }
    return try reader.read(0..<reader.size)
  }

  /// Opens the value of a name, or nil when there is none.
  ///
  /// - Throws: `StorageError`: as ``SealedFolder/reader(named:)``.
  public func reader(named name: StoreKey) throws(StorageError) -> SealedFileReader? {
    guard let entry = try entry(named: name) else { return nil }
    switch entry {
    case .small(let value): return SealedFileReader(name, .small(value))
    case .blob(let blob):
      guard let reader = try folder.open(blob, in: place, name) else {
        throw SealedFolder.missing(blob.id, in: place, name)
      }
      return reader
    }
  }

  /// Whether a name has a value, even one that can't be read.
  ///
  /// - Throws: `StorageError` when that can't be known.
  public func contains(_ name: StoreKey) throws(StorageError) -> Bool {
    try entries.contains(name)
  }

  /// How many bytes of a value are sealed between two checks for cancellation.
  private static let pieceSize = 1 << 20

  /// Gives a name a value, when the transaction ends.
  ///
  /// - Throws: `StorageError`: `full` and the like, `invalid` for a name that can't be, `cancelled`
  ///   for a large value when the task was.
  public func write(_ value: Data, named name: StoreKey) throws(StorageError) {
    let entry: FileEntry
    if value.count <= SegmentLayout.entryLimit {
      entry = .small(value)
    } else {
      let writer = try folder.blobWriter(in: place)
      for start in stride(from: 0, to: value.count, by: Self.pieceSize) {
        try SealedFileReader.checkCancellation(name)
        let end = min(start + Self.pieceSize, value.count)
        try writer.append(value.bytes.extracting(start..<end))
      }
      entry = try writer.finish()
      if let id = writer.blobID { blobs[id] = TouchedBlob(by: .writer(writer, isOwned: true)) }
      return try put(entry, sealedBy: writer, named: name)
    }
    try put(entry, named: name)
  }

  /// Removes the value of a name, if there is one, when the transaction ends.
  ///
  /// - Throws: `StorageError`: `invalid` for a name that can't be.
  public func remove(_ name: StoreKey) throws(StorageError) {
    try release(name)
    try entries.delete(forKey: name)
  }

  /// Gives a value another name, when the transaction ends; the new name's old value is gone then.
  ///
  /// - Returns: whether there is a value of the old name.
  /// - Throws: `StorageError`: as ``SealedFolder/read(named:)``.
  @discardableResult
  public func rename(_ name: StoreKey, to newName: StoreKey) throws(StorageError) -> Bool {
    guard let entry = try entry(named: name) else { return false }
    guard Array(name.utf8) != Array(newName.utf8) else { return true }
    // Nobody may sweep the blob while it goes from one name to the other.
    try touch(entry, of: name)
    try put(entry, named: newName)
    try entries.delete(forKey: name)
    changed.append(name)
    return true
  }

  // MARK: - Entries

  /// The entry of a name in the index, or the one that it will get.
  func entry(named name: StoreKey) throws(StorageError) -> FileEntry? {
    guard var bytes = try entries.load(Data.self, forKey: name) else { return nil }
    return try SealedFolder.read(&bytes, name)
  }

  /// Lets the index name the blob that a writer has sealed.
  ///
  /// If that fails, the writer's owner goes on.
  func put(
    _ entry: FileEntry, of writer: BlobWriter, named name: StoreKey
  ) throws(StorageError) {
    if let id = writer.blobID { blobs[id] = TouchedBlob(by: .writer(writer, isOwned: false)) }
    try put(entry, sealedBy: writer, named: name)
  }

  private func put(
    _ entry: FileEntry, sealedBy writer: BlobWriter, named name: StoreKey
  ) throws(StorageError) {
    try put(entry, named: name)
    // A restored index may be of another store, where blobs that are bound to this store do not
    // open.
    guard try folder.storeID() == writer.store else {
      throw StorageError(
        .busy, "the index was replaced meanwhile; write the value again", key: name)
    }
  }

  /// Puts `entry` under a name; it may say more about the same blob than the old entry.
  func put(_ entry: FileEntry, named name: StoreKey) throws(StorageError) {
    try release(name)
    if let id = entry.blob?.id { blobs[id]?.newName = name }
    var bytes = entry.encoded()
    defer { Wipe.data(&bytes) }
    try entries.save(bytes, forKey: name)
  }

  /// Takes the name from the blob that has it.
  private func release(_ name: StoreKey) throws(StorageError) {
    changed.append(name)
    let old: FileEntry?
    do throws(StorageError) {
      old = try entry(named: name)
    } catch {
      // An unreadable entry can be replaced and removed; its blob, if it has one, is unknown.
      guard error.isOfEntry else { throw error }
      return
    }
    guard let old else { return }
    try touch(old, of: name)
    if let id = old.blob?.id { blobs[id]?.newName = nil }
  }

  /// Keeps others from sweeping the blob of an entry until the transaction has ended.
  private func touch(_ entry: FileEntry, of name: StoreKey) throws(StorageError) {
    guard let id = entry.blob?.id, blobs[id] == nil else { return }
    try place.create()
    let marker = try PendingMarker.share(id, in: place)
    blobs[id] = TouchedBlob(oldName: name, newName: name, by: .marker(marker))
  }

  // MARK: - The end

  /// Makes blobs and markers durable, before the index names them.
  func synchronize() throws(StorageError) {
    try process.require("the transaction")
    guard !blobs.isEmpty else { return }
    do throws(StorageError) {
      try place.synchronize()
      for blob in blobs.values {
        if case .writer(let writer, _) = blob.holder { try writer.requireInPlace() }
      }
    } catch {
      // The index was not changed yet.
      guard error.code == .outcomeUnknown else { throw error }
      throw StorageError(.io, error.message, path: error.path, number: error.number)
    }
  }

  /// How a transaction ended.
  enum Outcome {
    case done
    case failed
    case unknown
  }

  /// Removes the blobs that the index does not name, and the markers.
  ///
  /// The next sweep does what can't be done now.
  func finish(_ outcome: Outcome) {
    guard process.isCurrent else { return }
    for (id, blob) in blobs { blob.finish(id, outcome, in: folder, place) }
    blobs = [:]
    // An unreadable value was replaced on purpose.
    guard outcome == .done else { return }
    for name in changed { folder.failedReads.forget(name) }
  }
}

@available(*, unavailable)
extension SealedFolderTransaction: Sendable {}

extension SealedFolderTransaction: RedactedDescription {}
