internal import CryptoCore
internal import Synchronization

extension SealedStore {
  /// Throws if the last read of `name` failed and an assignment would destroy an existing record.
  @usableFromInline
  func refuseToReplaceUnreadable(_ name: RecordName) throws(StorageError) {
    guard let error = unreadable[name.text] else { return }
    do throws(StorageError) {
      guard try fetch(name) != nil else { return unreadable.forget(name.text) }
    } catch {
      throw error.about(name.text)
    }
    throw StorageError(
      error.code,
      "the value was not replaced, because the last read of it failed: \(error.message). "
        + "Call save(_:) to replace it, or remove() to delete it",
      key: name.text)
  }
}

/// The names whose last read failed, for any reason.
///
/// `count += 1` through a wrapper reads and then writes. After a failed read, the write would
/// replace the unreadable value with one computed from a default. Assignments to such a name are
/// therefore refused until a read succeeds, or until the program calls `save(_:)` or `remove()`.
///
/// Names of properties are always remembered. Other names, which a server may take from its clients, are
/// remembered only up to a limit; whoever reads those calls `load`, and was told of the failure.
final class UnreadableNames: Sendable {
  /// Keyed by the bytes of the names, because `String` comparison ignores normalisation.
  private let names = Lock<[[UInt8]: StorageError]>([:])
  /// The number of names, so that the usual check (none) costs one atomic load.
  private let count = Atomic<Int>(0)

  /// How many names are remembered.
  var rememberedCount: Int { count.load(ordering: .relaxed) }

  /// How many names are remembered before names that no property has are left out.
  static let limit = 4_096

  func remember(_ name: RecordName, _ error: StorageError) {
    do throws(StorageError) {
      try Payload.check(name: name.text)
    } catch {
      return  // an invalid name has no record
    }
    names.withLock { names in
      guard name.isProperty || names.count < Self.limit else { return }
      names[Array(name.text.utf8)] = error
      count.store(names.count, ordering: .relaxed)
    }
  }

  @inline(__always)
  func forget(_ name: String) {
    guard count.load(ordering: .relaxed) > 0 else { return }
    names.withLock { names in
      names[Array(name.utf8)] = nil
      count.store(names.count, ordering: .relaxed)
    }
  }

  /// The error of the last read of `name`, or nil if that read succeeded.
  @inline(__always)
  subscript(name: String) -> StorageError? {
    guard count.load(ordering: .relaxed) > 0 else { return nil }
    return names.withLock { $0[Array(name.utf8)] }
  }
}
