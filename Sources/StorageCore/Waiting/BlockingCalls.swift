/// A type whose calls block a thread, and ``async(_:)``, which makes them from asynchronous code.
///
/// Storages, vaults, sealed folders and their readers, key administrations, properties, keyrings,
/// containers, credentials and queries conform to this protocol. Calls that belong to no object,
/// such as `SecureStorage.migrate` and `Keyring.search`, use ``SecureStorage/async(_:)``.
///
/// A type of your own conforms by declaring it. Only a `Sendable` type has the call.
public protocol BlockingCalls {}

extension BlockingCalls where Self: Sendable {
  /// Runs calls that block on a thread that may block, and waits for their result without blocking
  /// a thread of Swift concurrency.
  ///
  ///     let report = try await vault.async { try $0.verify() }
  ///
  /// Swift concurrency has only one thread per core, so a few blocked calls would stop every task
  /// of the program. `body` runs on a separate thread, which the next call reuses. Up to about 250
  /// bodies run at once; more of them wait. Put several calls into one `body` if they belong
  /// together: they run in their order, but are not a transaction.
  ///
  /// `body` is part of the calling task and sees its task-local values, so injection overrides and
  /// the stores of a test apply. It runs on no actor, and may capture only what is `Sendable`.
  ///
  /// When the task is cancelled, a call that waits for the desktop's keyring ends with `cancelled`,
  /// or with `outcomeUnknown` if it was already writing. Calls of a sealed folder that take long,
  /// such as a copy, a backup or a rotation, end with `cancelled`. All other calls run to their
  /// end. `body` runs even if the task was cancelled before; `Task.isCancelled` says so inside.
  ///
  /// - Parameter body: gets the object. If it doesn't throw, the call needs no `try`. Write
  ///   `{ (vault) throws(StorageError) in try vault.verify() }` where the type of the error counts.
  /// - Returns: what `body` returns. It is not discardable, since some results must be looked at;
  ///   write `_ =` for one that you don't need.
  /// - Throws: the error of `body`, unchanged.
  public func async<Success: Sendable, Failure: Error>(
    _ body: @escaping @Sendable (Self) throws(Failure) -> Success
  ) async throws(Failure) -> Success {
    try await Blocking.run { () throws(Failure) in try body(self) }
  }
}
