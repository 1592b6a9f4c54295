internal import CryptoCore
internal import StorageCore
internal import VaultBackend

/// The blobs that the index names, which are listed once and then followed.
///
/// Listing opens every entry; following costs as much as was written since.
struct NamedBlobs {
  /// How often the index is listed, where its keys are changed meanwhile.
  private static let attempts = 10

  private let folder: SealedFolder
  /// By which name, as far as that was looked at: it may be gone since, and none is missing.
  private var names: [BlobID: StoreKey] = [:]
  /// The commit of the index from which on it was not looked at yet.
  private var number: Int64 = 0
  /// Whether nothing had been written when it was looked at last: then the names were those of one moment.
  private(set) var isSettled = false

  /// Lists the index.
  ///
  /// - Returns: nil when an entry of it can't be read, which may name any blob.
  init?(in folder: SealedFolder) throws(StorageError) {
    self.folder = folder
    guard try list() else { return nil }
  }

  /// Whether an entry named a blob, at one time since the index was listed.
  func mayName(_ id: BlobID) -> Bool { names[id] != nil }

  /// Whether an entry names a blob, of which nobody else has the marker.
  ///
  /// To be asked after the marker was claimed and then ``catchUp()`` called: until the marker is given
  /// back, the answer stays.
  func name(_ id: BlobID) throws(StorageError) -> Bool {
    guard let name = names[id] else { return false }
    do throws(StorageError) {
      // It may have been removed after it was listed, by somebody who was killed before the blob was.
      return try folder.entry(named: name)?.blob?.id == id
    } catch {
      guard error.isOfEntry else { throw error }
      return true
    }
  }

  /// Takes in what was written since.
  ///
  /// Every entry that was there before and is there afterwards was looked at. One that goes from name to
  /// name meanwhile may be missing until ``isSettled``; nobody does that to a blob whose marker is claimed.
  ///
  /// - Returns: false when an entry can't be read.
  mutating func catchUp() throws(StorageError) -> Bool {
    for _ in 0..<Self.attempts {
      if let (listing, latest) = try folder.index.listing(since: number) {
        (number, isSettled) = (latest, latest == number)
        return try take(listing)
      }
      guard try list() else { return false }
    }
    throw StorageError(
      .busy, "the names in the folder keep changing; try again",
      path: try folder.index.resolvedPath())
  }

  private mutating func list() throws(StorageError) -> Bool {
    // Before the names: what is renamed while they are listed is written later, and caught up with.
    number = try folder.index.lastCommit()
    (names, isSettled) = ([:], false)
    return try take(try folder.index.listing())
  }

  private mutating func take(_ listing: KeyListing) throws(StorageError) -> Bool {
    guard listing.unreadable == 0 else { return false }
    for name in listing.keys {
      do throws(StorageError) {
        if let blob = try folder.entry(named: name)?.blob { names[blob.id] = name }
      } catch {
        guard error.isOfEntry else { throw error }
        return false
      }
    }
    return true
  }
}

extension StorageError {
  /// Whether an entry of the index can't be read, and the others can.
  var isOfEntry: Bool { [.damaged, .unsupported, .typeMismatch].contains(code) }

  /// Whether a value can't be read, and the others can.
  var isOfValue: Bool { isOfEntry || code == .denied }
}
