package import CryptoCore
internal import Synchronization

/// The object that does the work of a place; all handles of one place share it.
package protocol SharedPlace: AnyObject, Sendable {
  /// The file of the place.
  var path: String { get }

  /// From now on creates no missing store, and no folder or file for one.
  func makeNothing()
}

/// Finds the object of a place at its first use, when the path and the access rights are fixed.
package struct PlaceHandle<Object: SharedPlace>: ~Copyable, Sendable {
  private let find: @Sendable () throws(StorageError) -> Object
  private let use: @Sendable () -> StoreAccess
  @usableFromInline let resolved = SetOnce<Object>()
  private let mustExist = Atomic<Bool>(false)

  /// A handle of a place that is not looked at yet.
  ///
  /// - Parameters:
  ///   - use: what the program may do; asked at each use.
  ///   - find: finds the object, at the first use.
  package init(
    use: @escaping @Sendable () -> StoreAccess,
    find: @escaping @Sendable () throws(StorageError) -> Object
  ) {
    self.use = use
    self.find = find
  }

  /// What the program may do.
  package var allowance: StoreAccess { use() }

  /// The object.
  ///
  /// - Throws: `StorageError` when the place can't be known.
  package func object() throws(StorageError) -> Object {
    if let object = resolved.load() { return object }
    let object = resolved.storeIfNil(try find())
    if use() == .mustExist || mustExist.load(ordering: .acquiring) { object.makeNothing() }
    return object
  }

  /// The object; nil before the first use.
  package var known: Object? { resolved.load() }

  /// The object without a counted reference; nil before the first use.
  ///
  /// The handle keeps the object alive.
  @inlinable @inline(__always)
  package var uncounted: Unmanaged<Object>? { unsafe resolved.uncounted }

  /// From now on no storage of this process creates the store.
  package func makeNothing() {
    // In this order: a thread that finds the object after the first line sees the flag.
    mustExist.store(true, ordering: .sequentiallyConsistent)
    resolved.load()?.makeNothing()
  }

  /// The object's identity; nil when the place can't be known.
  package var identity: DelegateIdentity? {
    do throws(StorageError) { return DelegateIdentity(of: try object()) } catch { return nil }
  }

  /// The path of the file; nil when the place can't be known.
  package var location: String? {
    do throws(StorageError) { return try object().path } catch { return nil }
  }
}
