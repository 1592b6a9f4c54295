internal import CryptoCore
public import StorageCore

public import struct Foundation.Data

/// A storage in memory for tests: sealed like every other, gone with its last reference.
public final class InMemoryStorage: DelegatedStorage, @unchecked Sendable {
  // Adds no state to DelegatedStorage.

  /// An empty storage with a key of its own.
  public convenience init(authenticationTag: Data? = nil) {
    self.init(
      FaultyDelegate(), keySource: .key(SymmetricKey(size: .bits256)),
      authenticationTag: authenticationTag)
  }
}

/// A storage in memory that fails on cue.
///
///     let storage = FaultyStorage()
///     storage.faults.fail(.writes, with: .failure(StorageError(.full, "no space left")))
public final class FaultyStorage: DelegatedStorage, @unchecked Sendable {
  // Adds no mutable state to DelegatedStorage.

  /// What makes it fail.
  public let faults: FaultyDelegate

  /// A storage that works until it is told to fail.
  ///
  /// - Parameter errorClosure: takes the errors of calls that can't throw.
  public init(errorClosure: StorageErrorClosure? = nil) {
    let delegate = FaultyDelegate()
    faults = delegate
    super.init(
      delegate, keySource: .key(SymmetricKey(size: .bits256)), errorClosure: errorClosure)
  }
}
