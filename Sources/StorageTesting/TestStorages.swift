internal import CryptoCore
public import StorageCore

public import struct Foundation.Data

/// An in-memory storage for tests.
///
/// Values are sealed, as in every storage, and are gone with the last reference to the
/// storage.
public final class InMemoryStorage: DelegatedStorage, @unchecked Sendable {
  // Adds no state to DelegatedStorage.

  /// Creates an empty storage with its own key.
  public convenience init(authenticationTag: Data? = nil) {
    self.init(
      FaultyDelegate(), keySource: .key(SymmetricKey(size: .bits256)),
      authenticationTag: authenticationTag)
  }
}

/// An in-memory storage for tests that fails on request.
///
///     let storage = FaultyStorage()
///     storage.faults.fail(.writes, with: .failure(StorageError(.full, "no space left")))
public final class FaultyStorage: DelegatedStorage, @unchecked Sendable {
  // Adds no mutable state to DelegatedStorage.

  /// Controls which calls fail.
  public let faults: FaultyDelegate

  /// Creates a storage that works until it is told to fail.
  ///
  /// - Parameter errorClosure: receives the errors of calls that can't throw.
  public init(errorClosure: StorageErrorClosure? = nil) {
    let delegate = FaultyDelegate()
    faults = delegate
    super.init(
      delegate, keySource: .key(SymmetricKey(size: .bits256)), errorClosure: errorClosure)
  }
}
