public import CryptoCore
internal import Synchronization

/// The names whose last read failed, and the rule for assignments to them; all wrappers share it.
///
/// `count += 1` through a wrapper reads and then writes. After a failed read, the write would
/// replace a value that could not be read with one that was computed from a default. So:
/// - After `busy`, `timedOut` or `cancelled`, which say nothing about the value, one assignment is
///   refused: the one that may have been computed from the default that the property gave. A
///   `load()` that throws such an error gave no default, so it refuses nothing.
/// - After any other error, assignments are refused until a read succeeds, the value is gone, or
///   the program calls `save(_:)` or `remove()`.
///
/// Names of properties are always remembered. Other names, which a server may take from its
/// clients, are remembered only up to a limit; they are read with `load`, which threw the error.
@usableFromInline
package final class FailedReads: Sendable {
  /// Keyed by the bytes of the names, because `String` comparison ignores normalisation.
  private let errors = Lock<[[UInt8]: StorageError]>([:])
  /// The number of names, so that the usual check (none) costs one atomic load.
  private let atomicCount = Atomic<Int>(0)

  /// How many names are remembered before names that no property has are left out.
  package static let limit = 4_096

  /// Remembers nothing yet.
  package init() {}

  /// How many names are remembered.
  package var count: Int { atomicCount.load(ordering: .relaxed) }

  /// Remembers why the read of a name failed.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - error: why the read failed.
  ///   - gaveDefault: whether the reader got nil or a default instead of the error.
  ///   - isProperty: whether a property has this name.
  package func remember(
    _ name: String, _ error: StorageError, gaveDefault: Bool = false, isProperty: Bool = true
  ) {
    let isPassing = Self.isPassing(error)
    guard gaveDefault || !isPassing else { return }
    errors.withLock { errors in
      guard isProperty || errors.count < Self.limit else { return }
      let name = Array(name.utf8)
      // A passing error says nothing about the value, so it does not replace an error that does.
      if isPassing, let old = errors[name], !Self.isPassing(old) { return }
      errors[name] = error
      atomicCount.store(errors.count, ordering: .relaxed)
    }
  }

  /// Forgets a name: it was read, or the program replaced or removed its value on purpose.
  @inline(__always)
  package func forget(_ name: String) {
    guard count > 0 else { return }
    forgetRemembered(name)
  }

  private func forgetRemembered(_ name: String) {
    errors.withLock { errors in
      errors[Array(name.utf8)] = nil
      atomicCount.store(errors.count, ordering: .relaxed)
    }
  }

  /// Forgets all names: their values were removed on purpose.
  package func forgetAll() {
    errors.withLock { errors in
      errors = [:]
      atomicCount.store(0, ordering: .relaxed)
    }
  }

  /// Throws if an assignment to `name` may be computed from a read that failed.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - key: the key that the error names, if it is not `name`.
  ///   - isThere: whether there is a value that the assignment would destroy.
  /// - Throws: `StorageError` with the code of the failed read, or what `isThere` throws.
  @inline(__always)
  package func checkAssignment(
    to name: String, key: StoreKey? = nil, ifThere isThere: () throws(StorageError) -> Bool
  ) throws(StorageError) {
    guard count > 0, let error = errors.withLock({ $0[Array(name.utf8)] }) else { return }
    try refuse(name, key ?? name, error, isThere)
  }

  /// Whether an error is about the moment, and says nothing about the value.
  private static func isPassing(_ error: StorageError) -> Bool {
    [.busy, .timedOut, .cancelled].contains(error.code)
  }

  private func refuse(
    _ name: String, _ key: StoreKey, _ error: StorageError,
    _ isThere: () throws(StorageError) -> Bool
  ) throws(StorageError) {
    let isPassing = Self.isPassing(error)
    if isPassing {
      forget(name)
    } else {
      do throws(StorageError) {
        guard try isThere() else { return forget(name) }
      } catch {
        throw error.about(key)
      }
    }
    throw StorageError(
      error.code,
      "the value was not replaced, because the last read of it failed: \(error.message). "
        + (isPassing
          ? "Read it again, then assign it again"
          : "Call save(_:) to replace it, or remove() to delete it"),
      key: key, path: error.path)
  }
}

/// Remembers whether the last read of one name failed.
///
/// Opaque; only ``PropertySource`` needs it.
public struct FailedRead: Sendable {
  private let reads: FailedReads
  private let name: String
  private let key: StoreKey?

  /// The last read of `name`; errors name `key`, or else `name`.
  @usableFromInline
  package init(_ name: String, in reads: FailedReads, key: StoreKey? = nil) {
    self.reads = reads
    self.name = name
    self.key = key
  }

  /// Remembers why the read failed.
  ///
  /// - Parameters:
  ///   - error: why the read failed.
  ///   - gaveDefault: whether the reader got nil or a default instead of the error.
  ///   - isProperty: whether a property has this name.
  @usableFromInline
  package func remember(
    _ error: StorageError, gaveDefault: Bool = false, isProperty: Bool = true
  ) {
    reads.remember(name, error, gaveDefault: gaveDefault, isProperty: isProperty)
  }

  /// Forgets a failure: a read succeeded, or the program replaced or removed the value on purpose.
  package func forget() { reads.forget(name) }

  /// Throws if an assignment may be computed from a read that failed.
  @usableFromInline
  package func checkAssignment(
    ifThere isThere: () throws(StorageError) -> Bool
  ) throws(StorageError) {
    try reads.checkAssignment(to: name, key: key, ifThere: isThere)
  }

  /// Runs a read, and remembers whether it failed.
  package func noting<Result>(
    _ read: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    do throws(StorageError) {
      let result = try read()
      forget()
      return result
    } catch {
      remember(error)
      throw error
    }
  }
}

extension FailedRead: RedactedDescription {
  /// The name, and no value.
  public var description: String { "FailedRead(\"\(name)\")" }
}

extension FailedReads {
  /// Remembers why the read of a name failed, unless the name is invalid and so has no record.
  func remember(_ name: RecordName, _ error: StorageError, gaveDefault: Bool = false) {
    do throws(StorageError) { try Payload.check(name: name.text) } catch { return }
    remember(name.text, error, gaveDefault: gaveDefault, isProperty: name.isProperty)
  }
}
