public import CryptoCore

/// Stores sealed records; the protocol that an application implements for a store of its own.
///
/// A delegate sees hashed names and sealed bytes, never a name or a value, and stores them
/// unchanged. Its store has no header: all keys are derived from the application's own key, which
/// can't be replaced. A place with key slots and rotation is a ``RecordPlace``. An implementation
/// promises:
/// - Calls may come from any thread, many at once.
/// - A write is as durable as the place allows before the call returns.
/// - A failed write leaves the old record.
/// - No call blocks without a deadline.
/// - `nil` means only that the record is absent; every other failure throws.
///
/// A delegate that hears of changes is an ``ObservableDelegate``. `DelegatePromise` in
/// StorageTesting checks the promises that can be checked.
public protocol StorageDelegate: Sendable {
  /// Whether a call may wait for another program, such as a service, and not only for a file.
  ///
  /// Async code then makes the call on a thread that may block. The default is `false`.
  var asksOthers: Bool { get }

  /// Identifies the place of the records, or nil where the place is not known.
  ///
  /// Storages whose delegates have the same identity notify each other of their changes. By
  /// default, the identity of an object is the object itself, and the identity of a value is nil.
  /// The identity may change once, when the place becomes known.
  var identity: DelegateIdentity? { get }

  /// Returns the record under `name`, or nil when there is none.
  ///
  /// - Throws: `StorageError` when the delegate can't tell.
  func record(for name: NameHash) throws(StorageError) -> [UInt8]?

  /// Stores `record` under `name`, and replaces an old record.
  ///
  /// - Throws: `StorageError`; the old record is then still stored.
  func set(_ record: [UInt8], for name: NameHash) throws(StorageError)

  /// Stores `record` under `name` if there is none, in one atomic step.
  ///
  /// - Returns: whether the record was stored; false when there was a record already.
  /// - Throws: `StorageError`; nothing is then changed.
  func setIfAbsent(_ record: [UInt8], for name: NameHash) throws(StorageError) -> Bool

  /// Removes the record under `name`; does nothing when there is none.
  ///
  /// - Throws: `StorageError`; the record is then still stored.
  func remove(_ name: NameHash) throws(StorageError)

  /// Returns the names of all records, in any order.
  ///
  /// By default this is the error `unsupported`: the storage can't list its keys or remove all.
  ///
  /// - Throws: `StorageError` when the delegate can't tell.
  func names() throws(StorageError) -> [NameHash]
}

extension StorageDelegate {
  /// False: the delegate answers from memory of this process, or from a file.
  public var asksOthers: Bool { false }

  /// The object itself; nil for a value.
  public var identity: DelegateIdentity? {
    type(of: self) is AnyClass ? DelegateIdentity(of: self as AnyObject) : nil
  }

  /// The error `unsupported`.
  public func names() throws(StorageError) -> [NameHash] {
    throw StorageError(.unsupported, "this storage's delegate can't list what it holds")
  }
}

/// A delegate that notifies observers of changes to its records.
public protocol ObservableDelegate: StorageDelegate {
  /// Calls `observer` for each change, in the order in which changes take effect.
  ///
  /// The delegate reports a change of this process before the write returns; one that asks others
  /// may leave it out if it has reported a later change of that name by then. Of changes by another
  /// process, it reports at least the latest one to each name. It calls `observer` under its lock,
  /// so the observer must be quick and must not call the delegate.
  ///
  /// When another file replaces the store's file, and so all records at once, the delegate reports
  /// removed records before new ones. When the place becomes unreadable, the delegate may report
  /// the removal of a name that no record has, without a header version; listeners then read again
  /// themselves. When the place becomes readable again, the delegate reports the same removal and
  /// all records.
  ///
  /// - Returns: an object that keeps the observation alive; releasing it ends the observation.
  func observe(_ observer: @escaping @Sendable (RecordChange) -> Void) -> ChangeObservation
}

/// One change to a record.
public struct RecordChange: Sendable {
  /// The name of the record.
  public let name: NameHash
  /// The new record, or nil when the record was removed.
  public let record: [UInt8]?
  /// The version of the header that was current with the change, or nil when it is not given.
  ///
  /// With the version, a listener can skip a change of another name at once, under the lock, where
  /// it can't ask for the header. Without the version, a listener of a ``RecordPlace`` looks at all
  /// changes later. That is correct too, but costs each listener a queue of the changes to all
  /// names.
  public let headerVersion: UInt64?

  /// Makes a change of the record under `name`.
  public init(name: NameHash, record: [UInt8]?, headerVersion: UInt64? = nil) {
    self.name = name
    self.record = record
    self.headerVersion = headerVersion
  }
}

extension RecordChange {
  /// A change of unknown names: each listener then reads again itself.
  ///
  /// It names a record that no store has.
  package static let unknown = RecordChange(
    name: NameHash([UInt8](repeating: 0, count: NameHash.byteCount))!, record: nil)
}

/// The observers of a place's records.
public typealias ChangeObservers = Observers<RecordChange>
