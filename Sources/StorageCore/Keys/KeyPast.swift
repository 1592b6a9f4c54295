internal import CryptoCore

/// The newest keys of a store that this process has seen; detects an older header that was put
/// back.
///
/// An older header looks valid, and holds keys that a rotation has ended. So a header with fewer
/// data keys than before, or with a root key that was replaced, is accepted only after a restore or
/// a repair.
struct KeyPast {
  private var store: StoreID?
  /// The check value of the root key, and below the check values of the root keys that it replaced.
  private var root: [UInt8] = []
  private var replaced: Set<[UInt8]> = []
  private var nextID: UInt32 = 0
  /// The number of the last restoration that was accepted.
  private var restoration = 0

  /// The error to throw when a header does not open: `error`, or another one if its root key was
  /// replaced before.
  func failure(_ error: StorageError, of header: StoreHeader) -> StorageError {
    let isBack = header.store == store && replaced.contains(header.rootCheck)
    return isBack && [.wrongKey, .keyUnavailable].contains(error.code) ? Self.wentBack : error
  }

  /// Accepts the keys of a header, and refuses older keys.
  ///
  /// - Throws: `damaged` for older keys.
  mutating func follow(
    _ header: StoreHeader, _ keyset: Keyset, _ version: UInt64, in place: (any ManifestPlace)?
  ) throws(StorageError) {
    guard header.store == store else {
      self = KeyPast(
        store: header.store, root: header.rootCheck, nextID: keyset.nextID,
        restoration: place?.restoration?.number ?? 0)
      return
    }
    if keyset.nextID < nextID || replaced.contains(header.rootCheck) {
      if let number = restored(to: header, place) {
        restoration = number
      } else {
        guard try wasRestoredElsewhere(header, keyset, version, place) else {
          throw Self.wentBack
        }
        restoration = place?.restoration?.number ?? 0
      }
      replaced = []
    } else if header.rootCheck != root {
      replaced.insert(root)
    }
    (root, nextID) = (header.rootCheck, keyset.nextID)
  }

  /// The number of the restoration by this process that restored `header`, if it was not accepted
  /// yet.
  private func restored(to header: StoreHeader, _ place: (any ManifestPlace)?) -> Int? {
    guard let last = place?.restoration, last.number != restoration, last.root == header.rootCheck
    else { return nil }
    return last.number
  }

  /// Whether another process has restored an earlier state with the keys of that state.
  private func wasRestoredElsewhere(
    _ header: StoreHeader, _ keyset: Keyset, _ version: UInt64, _ place: (any ManifestPlace)?
  ) throws(StorageError) -> Bool {
    guard let place else { return false }
    return try place.wasRestored(
      keyset.manifestKeys(store: header.store), headerVersion: version)
  }

  private static let wentBack = StorageError(
    .damaged,
    "an older header was put back into the store while this program was running; it leads to keys that "
      + "were replaced. Nothing is read or written with these keys. Rotate to a new key, or restore a "
      + "backup. If you restored one already, for instance by copying the file, restart all programs that "
      + "use the store")
}

extension KeyPast {
  private init(store: StoreID, root: [UInt8], nextID: UInt32, restoration: Int) {
    (self.store, self.root) = (store, root)
    (self.nextID, self.restoration) = (nextID, restoration)
  }
}
