internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.Data

/// The id of a shared store: the sealed entries in the store are bound to it.
///
/// The store has the id as an entry, which the first machine writes. Each machine records it in its
/// ledger, so nobody can put another store in the place of one that the machine knows.
struct SharedStoreID: Sendable {
  let link: SyncLink
  let ledger: Ledger

  /// The name of the id in the shared store.
  static let name = "store:localdata"
  private static let magic: [UInt8] = Array("SPSI".utf8) + [1]
  private static let size = 16

  /// The id; nil if the store has none, which happens only for reading.
  ///
  /// - Throws: `damaged` if the store is not the one that this machine knows under the name.
  func find(isWriting: Bool) async throws(StorageError) -> [UInt8]? {
    let transport = link.transport.id
    let known = try await Blocking.run { [ledger] () throws(StorageError) in
      try ledger.storeID(of: transport)
    }
    var found = try await read()
    if found == nil, isWriting {
      let new =
        if let known { known } else {
          try cryptography { () throws(CryptoError) in
            try SecureRandom.publicBytes(count: Self.size)
          }
        }
      // If another machine was first, its id counts.
      _ = try await link.replace(Self.name, nil, with: Data(Self.magic + new))
      found = try await read()
    }
    guard let found else { return known }
    guard known != nil else {
      return try await Blocking.run { [ledger] () throws(StorageError) in
        try ledger.recordIfAbsent(found, ofStore: transport)
      }
    }
    guard known == found else {
      throw StorageError(
        .damaged,
        "the shared store is not the one that this machine knows as \(transport): its id differs. Nothing was "
          + "changed; connect to the right store, or give the new one another id")
    }
    return found
  }

  private func read() async throws(StorageError) -> [UInt8]? {
    guard let bytes = try await link.read(Self.name) else { return nil }
    guard bytes.count == Self.magic.count + Self.size, bytes.starts(with: Self.magic) else {
      throw StorageError(
        .damaged, "the id of the shared store is not an id; nothing was changed here")
    }
    return Array(bytes.dropFirst(Self.magic.count))
  }
}

extension Ledger {
  private static let storePrefix = "sync store:"

  func storeID(of transport: String) throws(StorageError) -> [UInt8]? {
    try storage.load([UInt8].self, forKey: Self.storePrefix + transport)
  }

  /// Records the id of a shared store, unless it has one; returns the recorded id.
  ///
  /// - Throws: `conflict` if another store of this machine has the id: then somebody copied that
  ///   store.
  func recordIfAbsent(_ id: [UInt8], ofStore transport: String) throws(StorageError) -> [UInt8] {
    for key in try storage.keys() where key.hasPrefix(Self.storePrefix) {
      let other = String(key.dropFirst(Self.storePrefix.count))
      guard other != transport, try storeID(of: other) == id else { continue }
      throw StorageError(
        .conflict,
        "the shared store \(transport) has the id of the shared store \(other): it is a copy, or the same "
          + "store under another name. Use the name \(other), or an empty store")
    }
    try storage.saveIfAbsent(id, forKey: Self.storePrefix + transport)
    return try storeID(of: transport) ?? id
  }
}
