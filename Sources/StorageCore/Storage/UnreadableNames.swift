internal import CryptoCore
internal import Synchronization

extension SealedStore {
  /// Throws when the last read of `name` failed and there is what an assignment would destroy.
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
      "the value was not replaced, since the last read of it failed: \(error.message). "
        + "Use save(_:) or remove() to replace it on purpose",
      key: name.text)
  }
}

/// The names that could not be read at the last attempt, for whatever reason.
///
/// `count += 1` through a wrapper is a read and a write: after a read that failed, the write would
/// replace what could not be read by something made of a default. So assignment to such a name is
/// refused, until a read succeeds or the program saves or removes on purpose.
final class UnreadableNames: Sendable {
  /// By the bytes of the names, since `String` compares without regard to normalisation.
  private let names = Lock<[[UInt8]: StorageError]>([:])
  /// How many there are, so that the usual case costs one load.
  private let count = Atomic<Int>(0)

  func remember(_ name: String, _ error: StorageError) {
    do throws(StorageError) {
      try Payload.check(name: name)
    } catch {
      return  // a name that can't be holds nothing
    }
    names.withLock { names in
      names[Array(name.utf8)] = error
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

  /// The error of the last read of `name`, if that failed.
  @inline(__always)
  subscript(name: String) -> StorageError? {
    guard count.load(ordering: .relaxed) > 0 else { return nil }
    return names.withLock { $0[Array(name.utf8)] }
  }
}
