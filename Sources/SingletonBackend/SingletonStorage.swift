internal import CryptoCore
public import StorageCore

public import struct Foundation.Data

/// Values in memory, sealed under a key that is made with the storage and dies with it.
///
/// All wrappers of one storage and key share a value. A core dump or a swapped page holds sealed
/// bytes; the key's own page is kept out of both, OpenSSL's expanded form of it is not. See
/// SECURITY.md for what that does and does not protect from.
public final class SingletonStorage: DelegatedStorage, StandardStorage, @unchecked Sendable {
  // Adds no state to DelegatedStorage.

  /// The storage that `@Singleton` and its family use; in a test with stores of its own, the test's.
  public static var standard: SingletonStorage {
    TestStores.inUse?.kept { SingletonStorage() } ?? program
  }

  private static let program = SingletonStorage()

  /// An empty storage with a key of its own.
  ///
  /// - Parameters:
  ///   - delegate: where the sealed records are kept.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  public convenience init(
    _ delegate: any StorageDelegate = SingletonStorageDelegate(), authenticationTag: Data? = nil
  ) {
    self.init(
      delegate, keySource: .key(SymmetricKey(size: .bits256)),
      authenticationTag: authenticationTag)
  }
}
