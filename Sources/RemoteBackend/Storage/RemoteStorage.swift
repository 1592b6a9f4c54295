internal import CryptoCore
public import StorageCore

package import struct FoundationEssentials.Data

/// Values that many machines share, sealed, in an engine such as etcd or PostgreSQL.
///
/// The engine sees hashed names and sealed values. Reads come from memory, which a watch keeps current,
/// and go on while the engine is away. A write has been made durably before it returns. If the answer
/// to a write is lost, the storage finds out what became of it; the error `outcomeUnknown` means that
/// it could not within the deadline.
///
/// The store is made by ``create()`` once, on one machine, and by nothing else.
open class RemoteStorage: DelegatedStorage, @unchecked Sendable {
  // Adds an immutable reference and a lock to DelegatedStorage.
  package let delegate: RemoteDelegate
  /// The name by which this process has acknowledged its keys; nil for the host name.
  let machineName = Lock<String?>(nil)

  /// The storage over a delegate, or over `records` in its place.
  package init(
    _ delegate: RemoteDelegate, records: (any RecordPlace)? = nil, keySource: KeySource,
    authenticationTag: Data? = nil, errorClosure: StorageErrorClosure? = nil
  ) {
    self.delegate = delegate
    // XAES-256-GCM: nobody counts its seals, so machines need not tell each other of theirs.
    super.init(
      records ?? delegate, keySource: keySource, algorithm: .xaes256GCM,
      authenticationTag: authenticationTag, errorClosure: errorClosure)
  }

  /// Makes the store, once, on one machine.
  ///
  /// - Throws: `StorageError`: `duplicate` if it exists.
  public func create() throws(StorageError) {
    let place = try delegate.place() as RemotePlace
    try place.repair()
    guard try place.header().header == nil else {
      throw StorageError(
        .duplicate, "the store exists already; use it, or another name", path: place.location)
    }
    try place.creating { () throws(StorageError) in try open() }
  }

  /// Asks the engine for everything that this process does not know yet, and keeps the copy on this
  /// machine.
  ///
  /// - Throws: `StorageError` when the engine can't be asked, or the copy not be written.
  public func refresh() throws(StorageError) {
    let place = try delegate.place() as RemotePlace
    try place.repair()
    try place.keep()
  }

  /// How current this process's copy is; costs no call.
  public var state: RemoteState {
    do throws(StorageError) {
      let place = try delegate.place() as RemotePlace
      return place.state
    } catch {
      return .unused
    }
  }
}
