internal import CryptoCore
public import StorageCore

public import struct Foundation.Data

/// A store of named bytes that several machines or programs share.
///
/// A promise: ``replace(_:_:with:)`` compares and writes in one step for all who share the store; who reads
/// gets bytes that were written whole; nil is absent and only that. What can't be read is an error. The
/// bytes are opaque: LocalData has sealed them already where a key's policy says so, and takes nothing on
/// trust that comes back.
///
/// Any number of calls come at once, each on a thread of its own, so a call may block. One that takes
/// longer than the deadline given to ``StorageRouter/connect(_:key:deadline:retryAfter:onEvent:)`` is the error
/// `timedOut` for who waits.
public protocol SyncTransport: Sendable {
  /// Names the shared store: what this machine remembers of it is kept under this name.
  ///
  /// 1 to 200 bytes; it stays the same for good.
  var id: String { get }

  /// The bytes of a name, or nil when there are none.
  ///
  /// - Parameter name: at most 1,000 UTF-8 bytes.
  /// - Returns: the bytes, or nil.
  /// - Throws: anything. A `StorageError` is passed on; of another error only the type is told.
  func read(_ name: String) async throws -> Data?

  /// Replaces the bytes of a name, if they are `old`; nil is none.
  ///
  /// - Parameters:
  ///   - name: at most 1,000 UTF-8 bytes.
  ///   - old: what has to be there.
  ///   - new: what is to be there.
  /// - Returns: whether `old` was there, and `new` is now.
  /// - Throws: as ``read(_:)``.
  func replace(_ name: String, _ old: Data?, with new: Data) async throws -> Bool
}

/// A shared store in memory, for tests: give one to several routers.
public final class MemorySyncTransport: SyncTransport {
  /// Names the store.
  public let id: String
  private let entries: Lock<[String: Data]>

  /// An empty store.
  public init(id: String = "memory") {
    self.id = id
    entries = Lock([:])
  }

  /// The names that have bytes, in order.
  public var names: [String] { entries.withLock { $0.keys.sorted() } }

  /// The bytes of a name.
  public func read(_ name: String) -> Data? { entries.withLock { $0[name] } }

  /// Replaces the bytes of a name, if they are `old`.
  public func replace(_ name: String, _ old: Data?, with new: Data) -> Bool {
    entries.withLock { entries in
      guard entries[name] == old else { return false }
      entries[name] = new
      return true
    }
  }

  /// Puts bytes there, whatever was there, as somebody does who keeps no rules; nil removes them.
  public func plant(_ bytes: Data?, _ name: String) {
    entries.withLock { $0[name] = bytes }
  }
}

/// A storage that several machines or programs share, as the store of what is synced.
///
/// A vault in the folder of a group, for instance, whose key all of them have:
///
///     let shared = VaultStorage(at: folder, keySource: .keyFile(path))
///     await router.connect(StorageSyncTransport(shared, id: "team"), key: key)
///
/// The storage seals once more what LocalData gives it.
public final class StorageSyncTransport: SyncTransport {
  /// Names the store.
  public let id: String
  private let storage: any Storage

  /// A storage as a shared store.
  ///
  /// - Parameters:
  ///   - storage: the storage; its place must be able to compare and replace in one step.
  ///   - id: names it.
  public init(_ storage: any Storage, id: String) {
    self.storage = storage
    self.id = id
  }

  /// The bytes of a name.
  public func read(_ name: String) async throws -> Data? {
    try storage.load(Data.self, forKey: name)
  }

  /// Replaces the bytes of a name, if they are `old`.
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

  /// Ends an update that is not to write.
  private struct Changed: Error {}
}
