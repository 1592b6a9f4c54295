import CryptoCore
import StorageCore

/// The code of the storage error that `body` throws, or nil when it throws none.
func code(_ body: () throws -> Void) -> StorageError.Code? {
  error(body)?.code
}

/// The storage error that `body` throws, or nil when it throws none.
func error(_ body: () throws -> Void) -> StorageError? {
  do {
    try body()
    return nil
  } catch {
    return error as? StorageError ?? StorageError(.io, "not a StorageError: \(error)")
  }
}

/// Collects the errors that a storage reports.
final class ErrorLog: Sendable {
  private let log = Lock<[StorageError]>([])

  /// What was reported, in order.
  var errors: [StorageError] { log.withLock { $0 } }

  /// The codes of what was reported, in order.
  var codes: [StorageError.Code] { errors.map(\.code) }

  /// Takes an error.
  func add(_ error: any Error) {
    let error = error as? StorageError ?? StorageError(.io, "not a StorageError: \(error)")
    log.withLock { $0.append(error) }
  }
}
