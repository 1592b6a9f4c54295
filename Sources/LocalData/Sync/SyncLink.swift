internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.Data

/// The connection of a router, and the keys whose writes are observed.
struct SyncLinks: Sendable {
  var link: SyncLink?
  /// By the domains and names of the keys.
  var followed: [String: ChangeObservation] = [:]
}

/// A shared store, the key that the machines share, the deadline and the worker.
final class SyncLink: Sendable {
  let transport: any SyncTransport
  let key: SymmetricKey?
  let deadline: Duration
  let worker: SyncWorker

  init(
    _ transport: any SyncTransport, _ key: SymmetricKey?, _ deadline: Duration,
    _ worker: SyncWorker
  ) {
    self.transport = transport
    self.key = key
    self.deadline = deadline
    self.worker = worker
  }

  /// The shared bytes under a name.
  func read(_ name: String) async throws(StorageError) -> Data? {
    try await call { transport in try await transport.read(name) }
  }

  /// Replaces the shared bytes under a name, if they equal `old`.
  func replace(_ name: String, _ old: Data?, with new: Data) async throws(StorageError) -> Bool {
    try await call { transport in try await transport.replace(name, old, with: new) }
  }

  /// Runs a call of the transport on a thread of its own, with the deadline.
  private func call<Result: Sendable>(
    _ body: @escaping @Sendable (any SyncTransport) async throws -> Result
  ) async throws(StorageError) -> Result {
    let transport = transport
    do {
      return try await TimeLimit.run(deadline, waitingFor: "the shared store") {
        try await body(transport)
      }
    } catch let error as StorageError {
      throw StorageError(
        error.code, "the shared store \(transport.id): \(error.message)", path: error.path,
        number: error.number)
    } catch is CancellationError {
      throw StorageError(.cancelled, "the task was cancelled")
    } catch {
      // The error's text may contain a secret.
      throw StorageError(
        .unavailable,
        "the shared store \(transport.id) failed: it threw \(type(of: error))")
    }
  }
}
