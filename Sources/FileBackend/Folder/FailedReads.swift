internal import CryptoCore
internal import StorageCore

/// Names whose value was there and could not be read, so that a property does not replace it by what was
/// made of a default.
final class FailedReads: Sendable {
  /// By the bytes of the names, since `String` compares without regard to normalisation.
  private let errors = Lock<[[UInt8]: StorageError]>([:])

  func remember(_ name: StoreKey, _ error: StorageError) {
    errors.withLock { $0[Array(name.utf8)] = error }
  }

  func forget(_ name: StoreKey) {
    errors.withLock { errors in
      if !errors.isEmpty { errors[Array(name.utf8)] = nil }
    }
  }

  subscript(name: StoreKey) -> StorageError? {
    errors.withLock { $0.isEmpty ? nil : $0[Array(name.utf8)] }
  }
}
