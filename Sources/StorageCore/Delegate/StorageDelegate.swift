public import CryptoCore

/// Where sealed records live: what a new backend implements.
///
/// A delegate sees hashed names and sealed bytes, never a name or a value, and keeps them as they
/// are. Promise: a call may come from any thread, many at once; a write is as durable as the place
/// allows before it returns; a failed write leaves the old record; no call blocks without a
/// deadline; `nil` means absent and only that, everything else is an error. What else a place can
/// do is said by conforming to the protocols that refine this one.
/// `DelegatePromise` in StorageTesting checks what can be checked.
public protocol StorageDelegate: Sendable {
  /// Whether a call may wait for another program, such as a service, and not for a file alone.
  ///
  /// Async code then makes it on a thread that may block. `false` unless a delegate says otherwise.
  var asksOthers: Bool { get }

  /// Which place the records are in, where that is known.
  ///
  /// Storages over delegates of one identity tell each other of their changes. Unless a delegate says
  /// otherwise, an object is its own place; of a value nothing is known, so nil. It may change once, when
  /// the place becomes known.
  var identity: DelegateIdentity? { get }

  /// The record kept under `name`, or nil when there is none.
  ///
  /// - Throws: `StorageError` when that can't be known.
  func record(for name: NameHash) throws(StorageError) -> [UInt8]?

  /// Keeps `record` under `name`, replacing any other.
  ///
  /// - Throws: `StorageError`; the old record is then still there.
  func set(_ record: [UInt8], for name: NameHash) throws(StorageError)

  /// Keeps `record` under `name` if there is none, in one atomic step.
  ///
  /// - Returns: whether it was kept; false when there was one already.
  /// - Throws: `StorageError`; nothing is then changed.
  func setIfAbsent(_ record: [UInt8], for name: NameHash) throws(StorageError) -> Bool

  /// Removes the record under `name`; does nothing when there is none.
  ///
  /// - Throws: `StorageError`; the record is then still there.
  func remove(_ name: NameHash) throws(StorageError)
}

extension StorageDelegate {
  /// False: it answers from this process, or from a file.
  public var asksOthers: Bool { false }

  /// The object itself; nil for a value.
  public var identity: DelegateIdentity? {
    type(of: self) is AnyClass ? DelegateIdentity(of: self as AnyObject) : nil
  }
}

/// A delegate that can list what it holds.
public protocol EnumerableDelegate: StorageDelegate {
  /// The names of all records, in any order.
  ///
  /// - Throws: `StorageError` when that can't be known.
  func names() throws(StorageError) -> [NameHash]
}

/// A delegate that tells of changes to its records.
public protocol ObservableDelegate: StorageDelegate {
  /// Calls `observer` for each change, in the order in which changes take effect.
  ///
  /// A change of this process is told before the write returns. Of changes by another process at
  /// least the latest to each name is told. The observer is called under the delegate's lock: it
  /// must be quick and must not call the delegate. When all records are replaced at once, by another
  /// file in the place of the store's, those that are gone are told before those that came. A place
  /// that can't be read any more may be told as a removal of a name that nobody has, without a version:
  /// listeners then look themselves. When it can be read again, it tells the same and all records.
  ///
  /// - Returns: what keeps the observation alive; it ends when that is released.
  func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation
}

/// One change to a record.
public struct RecordChange: Sendable {
  /// The name of the record.
  public let name: NameHash
  /// The record from now on, or nil when it was removed.
  public let record: [UInt8]?
  /// The version of the header that was current with the change, or nil when that is not said.
  ///
  /// With it a listener knows a change of another name under the lock, where it can't ask for the
  /// header. Without it a ``KeysetDelegate``'s changes are all looked at later, which is right too
  /// and costs a queue of changes to all names for each listener.
  public let headerVersion: UInt64?

  /// A change of the record under `name`.
  public init(name: NameHash, record: [UInt8]?, headerVersion: UInt64? = nil) {
    self.name = name
    self.record = record
    self.headerVersion = headerVersion
  }
}

/// Runs a closure when it is released: keeps an observer registered.
public final class ChangeObservation: Sendable {
  private let onRelease: @Sendable () -> Void

  /// An observation that ends by `onRelease`.
  public init(onRelease: @escaping @Sendable () -> Void) {
    self.onRelease = onRelease
  }

  deinit { onRelease() }
}
