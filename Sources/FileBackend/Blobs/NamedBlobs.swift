internal import CryptoCore
internal import StorageCore
internal import VaultBackend

/// The blobs that the index names: listed once, then kept up to date.
///
/// Listing opens every entry; an update costs as much as was written since.
struct NamedBlobs {
  /// How often the index is listed while others change its keys.
  private static let attempts = 10

  private let folder: SealedFolder
  /// The names that were seen for each blob: some may be gone since, but none is missing.
  private var names: [BlobID: StoreKey] = [:]
  /// The last commit of the index that was looked at.
  private var number: Int64 = 0
  /// Whether the last look found nothing new: the names then were those of one moment.
  private(set) var isStable = false

  /// Lists the index.
  ///
  /// - Returns: nil when an entry can't be read, since it may name any blob.
  init?(in folder: SealedFolder) throws(StorageError) {
    self.folder = folder
    guard try list() else { return nil }
  }

  /// Whether an entry named a blob at some time since the index was listed.
  func mayName(_ id: BlobID) -> Bool { names[id] != nil }

  /// Whether an entry names a blob whose marker nobody else has.
  ///
  /// Claim the marker and call ``catchUp()`` first: the answer then stays true until the marker is
  /// given back.
  func name(_ id: BlobID) throws(StorageError) -> Bool {
    guard let name = names[id] else { return false }
    do throws(StorageError) {
      // The entry may have been removed after it was listed, by somebody who was killed before
      // removing the blob.
      return try folder.entry(named: name)?.blob?.id == id
    } catch {
      guard error.isOfEntry else { throw error }
      return true
    }
  }

  /// Takes in what was written since the last look.
  ///
  /// Every entry that existed before and still exists afterwards was looked at. A blob that is
  /// renamed meanwhile may be missing until ``isStable``; nobody renames a blob whose marker is
  /// claimed.
  ///
  /// - Returns: false when an entry can't be read.
  mutating func catchUp() throws(StorageError) -> Bool {
    for _ in 0..<Self.attempts {
      if let (listing, latest) = try folder.index.listing(since: number) {
        (number, isStable) = (latest, latest == number)
        return try take(listing)
      }
      guard try list() else { return false }
    }
    throw StorageError(
      .busy, "the names in the folder keep changing; try again",
      path: try folder.index.resolvedPath())
  }

  private mutating func list() throws(StorageError) -> Bool {
    // Read before the names: a rename during the listing has a later number, so `catchUp` sees it.
    number = try folder.index.lastCommit()
    (names, isStable) = ([:], false)
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
  /// Whether the error is about one entry of the index, so that the others can be read.
  var isOfEntry: Bool { isOfRecord || code == .typeMismatch }

  /// Whether the error is about one value, so that the others can be read.
  var isOfValue: Bool { isOfEntry || code == .denied }
}
