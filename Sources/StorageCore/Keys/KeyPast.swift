internal import CryptoCore

/// How far the keys of a store had come, for as long as a process follows them.
///
/// A header that is put back looks like any other, and leads back to keys that a rotation has ended. So
/// one that leads to fewer data keys than there had been, or to a root key that was replaced, is followed
/// only after a restore or a repair.
struct KeyPast {
  private var store: StoreID?
  /// The check value of the root key, and of those that it replaced.
  private var root: [UInt8] = []
  private var replaced: Set<[UInt8]> = []
  private var nextID: UInt32 = 0
  /// The number of the last restoration that was followed.
  private var restoration = 0

  /// What is said when the keys of a header can't be opened: of a root key that was replaced, that it is back.
  func failure(_ error: StorageError, of header: StoreHeader) -> StorageError {
    let isBack = header.store == store && replaced.contains(header.rootCheck)
    return isBack && [.wrongKey, .keyUnavailable].contains(error.code) ? Self.wentBack : error
  }

  /// Goes on with the keys of a header, and refuses earlier ones.
  ///
  /// - Throws: `damaged` for those that went back.
  mutating func follow(
    _ header: StoreHeader, _ keyset: Keyset, _ version: UInt64, in delegate: any KeysetDelegate
  ) throws(StorageError) {
    guard header.store == store else {
      self = KeyPast(
        store: header.store, root: header.rootCheck, nextID: keyset.nextID,
        restoration: Self.lastRestoration(of: delegate))
      return
    }
    if keyset.nextID < nextID || replaced.contains(header.rootCheck) {
      if let number = restored(to: header, delegate) {
        restoration = number
      } else {
        guard try wasRestoredElsewhere(header, keyset, version, delegate) else {
          throw Self.wentBack
        }
        restoration = Self.lastRestoration(of: delegate)
      }
      replaced = []
    } else if header.rootCheck != root {
      replaced.insert(root)
    }
    (root, nextID) = (header.rootCheck, keyset.nextID)
  }

  /// The number of the restoration by this process that put a header in its place, if one did since the last
  /// that was followed.
  private func restored(to header: StoreHeader, _ delegate: any KeysetDelegate) -> Int? {
    guard let last = (delegate as? any RestorationDelegate)?.restoration,
      last.number != restoration, last.root == header.rootCheck
    else { return nil }
    return last.number
  }

  private static func lastRestoration(of delegate: any KeysetDelegate) -> Int {
    (delegate as? any RestorationDelegate)?.restoration?.number ?? 0
  }

  /// Whether another process has restored an earlier state, which takes the keys of that state.
  private func wasRestoredElsewhere(
    _ header: StoreHeader, _ keyset: Keyset, _ version: UInt64, _ delegate: any KeysetDelegate
  ) throws(StorageError) -> Bool {
    guard let delegate = delegate as? any RestorationDelegate else { return false }
    return try delegate.wasRestored(
      keyset.manifestKeys(store: header.store), headerVersion: version)
  }

  private static let wentBack = StorageError(
    .damaged,
    "the store's keys went back while the program runs: somebody has put back an older header, "
      + "whose keys were replaced. These keys are not used. Rotate to a new key, or restore a "
      + "backup. If you put the older file back yourself, restart the programs that use the store")
}

extension KeyPast {
  private init(store: StoreID, root: [UInt8], nextID: UInt32, restoration: Int) {
    (self.store, self.root) = (store, root)
    (self.nextID, self.restoration) = (nextID, restoration)
  }
}
