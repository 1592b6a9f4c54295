internal import CryptoCore
public import StorageCore

public import struct FoundationEssentials.Data

/// Values in memory, sealed under a key that lives and dies with the storage.
///
/// All wrappers of one storage and key share a value. A core dump or a swapped page contains sealed
/// bytes. The key's own page is kept out of both, but OpenSSL's expanded form of the key is not.
/// SECURITY.md says what this protects from, and what it does not.
public final class SingletonStorage: DelegatedStorage, StandardStorage, @unchecked Sendable {
  // Adds no state to DelegatedStorage.

  /// The storage that `@Singleton` and its family use.
  ///
  /// A test that has its own stores gets its own.
  public static var standard: SingletonStorage {
    guard let test = TestStores.inUse else { return program }
    return test.kept {
      SingletonStorage(SingletonStorageDelegate(), keySource: test.keySource)
    }
  }

  private static let program = SingletonStorage()

  /// Creates an empty storage with its own key.
  ///
  /// - Parameters:
  ///   - delegate: keeps the sealed records.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  public convenience init(
    _ delegate: any StorageDelegate = SingletonStorageDelegate(), authenticationTag: Data? = nil
  ) {
    self.init(
      delegate, keySource: .key(SymmetricKey(size: .bits256)),
      authenticationTag: authenticationTag)
  }
}
