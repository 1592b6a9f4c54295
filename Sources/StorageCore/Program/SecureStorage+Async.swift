extension SecureStorage {
  /// Runs calls that block and belong to no object, without blocking a thread of Swift concurrency.
  ///
  ///     let key = try await SecureStorage.async { try SymmetricKey.generate() }
  ///     let report = await SecureStorage.async { KeyringReport() }
  ///
  /// For `migrate(from:to:)`, `SymmetricKey.generate`, `KeyringReport` and the queries of
  /// `Keyring`. All that ``BlockingCalls/async(_:)`` says about threads, cancelling and `body`
  /// holds.
  ///
  /// - Parameter body: makes the calls.
  /// - Returns: what `body` returns.
  /// - Throws: the error of `body`, unchanged.
  public static func async<Success: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Success
  ) async throws(Failure) -> Success {
    try await Blocking.run(body)
  }
}
