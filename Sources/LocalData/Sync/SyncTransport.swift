internal import CryptoCore
public import StorageCore

public import struct FoundationEssentials.Data

/// A store of named bytes that several machines or programs share.
///
/// A conforming type promises: ``replace(_:_:with:)`` compares and writes in one step for all
/// machines; readers get only bytes that were written completely; nil means absent and only that.
/// Bytes that can't be read throw an error. The bytes are opaque: LocalData seals them first if a
/// key's policy says so, and verifies everything that comes back. The first machine that sends a
/// sealed value also writes a random id of the store, under the name `store:localdata`. Sealed
/// entries are bound to this id, so an entry of another store does not open.
///
/// Any number of calls may run at once, each on its own thread, so a call may block. If a call
/// takes longer than the deadline of ``StorageRouter/connect(_:key:deadline:retryAfter:onEvent:)``,
/// its caller gets `timedOut`.
public protocol SyncTransport: Sendable {
  /// The name of the shared store; this machine records its sync state under this name.
  ///
  /// 1 to 200 bytes; never change it.
  var id: String { get }

  /// The bytes under a name, or nil if there are none.
  ///
  /// - Parameter name: at most 1,000 UTF-8 bytes.
  /// - Returns: the bytes, or nil.
  /// - Throws: anything. A `StorageError` is passed on; of any other error only the type is
  ///   reported.
  func read(_ name: String) async throws -> Data?

  /// Replaces the bytes under a name, if they equal `old`; a nil `old` means that there are none.
  ///
  /// - Parameters:
  ///   - name: at most 1,000 UTF-8 bytes.
  ///   - old: the expected bytes.
  ///   - new: the new bytes.
  /// - Returns: true if the bytes were `old` and are now `new`.
  /// - Throws: as ``read(_:)``.
  func replace(_ name: String, _ old: Data?, with new: Data) async throws -> Bool
}

/// A shared store in memory, for tests: give one to several routers.
public final class MemorySyncTransport: SyncTransport {
  /// The name of the store.
  public let id: String
  private let entries: Lock<[String: Data]>

  /// Creates an empty store.
  public init(id: String = "memory") {
    self.id = id
    entries = Lock([:])
  }

  /// The names that have bytes, in order.
  public var names: [String] { entries.withLock { $0.keys.sorted() } }

  /// The bytes under a name.
  public func read(_ name: String) -> Data? { entries.withLock { $0[name] } }

  /// Replaces the bytes under a name, if they equal `old`.
  public func replace(_ name: String, _ old: Data?, with new: Data) -> Bool {
    entries.withLock { entries in
      guard entries[name] == old else { return false }
      entries[name] = new
      return true
    }
  }

  /// Writes bytes without comparing, as a misbehaving program would; nil removes them.
  public func plant(_ bytes: Data?, _ name: String) {
    entries.withLock { $0[name] = bytes }
  }
}

/// A shared store for sync in a storage that several machines or programs share.
///
/// For instance a vault in the folder of a group, if all programs have its key:
///
///     let shared = VaultStorage(at: folder, keySource: .file(url))
///     try router.connect(StorageSyncTransport(shared, id: "team"), key: key)
///
/// For machines, an `EtcdStorage` with `reading: .linearizable` does the same.
///
/// The storage seals the bytes again, in addition to LocalData.
public final class StorageSyncTransport: SyncTransport {
  /// The name of the store.
  public let id: String
  private let storage: any Storage

  /// Creates a shared store in a storage.
  ///
  /// - Parameters:
  ///   - storage: the storage; its place must be able to compare and replace in one step.
  ///   - id: the name of the shared store.
  public init(_ storage: any Storage, id: String) {
    self.storage = storage
    self.id = id
  }

  /// The bytes under a name.
  public func read(_ name: String) async throws -> Data? {
    try storage.load(Data.self, forKey: name)
  }

  /// Replaces the bytes under a name, if they equal `old`.
  public func replace(_ name: String, _ old: Data?, with new: Data) async throws -> Bool {
    do {
      try storage.update(Data.self, forKey: name) { value throws in
        guard value == old else { throw Changed() }
        value = new
      }
      return true
    } catch is Changed {
      return false
    }
  }

  /// Ends an update without a write.
  private struct Changed: Error {}
}
