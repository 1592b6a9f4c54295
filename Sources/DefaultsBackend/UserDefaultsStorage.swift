public import CryptoCore
public import StorageCore

public import struct FoundationEssentials.Data
public import struct FoundationEssentials.URL

/// Sealed values in a property list in the user's configuration folder.
///
/// Uses the place and format of Foundation's `UserDefaults`, but not its code. A write is durable
/// before it returns, unless you choose otherwise (``DefaultsDurability``). After a kill or on a full
/// disk, the file holds either the old values or the new ones. Processes that share a suite see and
/// keep each other's writes. Each change writes the whole file, so it is not suited to thousands of
/// values that change often.
///
/// The file is `<suite>.secure.plist` in `$XDG_CONFIG_HOME`, or in `.config` in the home folder, a
/// binary property list that `UserDefaults(suiteName: "<suite>.secure")` reads. Its keys are name
/// hashes in hexadecimal, its values sealed records. Reads come from memory, and see a change of
/// another program after at most 25 microseconds.
public final class UserDefaultsStorage: DelegatedStorage, StandardStorage, @unchecked Sendable {
  // Adds no state to DelegatedStorage.

  /// The storage that `@UserDefault` and its family use.
  ///
  /// A test that has its own stores gets its own storage. Otherwise the suite's name is the
  /// application id, and the key comes from the key source of
  /// `SecureStorage.bootstrap(applicationID:keySource:)`. Call that first.
  public static var standard: UserDefaultsStorage {
    TestStores.inUse?.kept { UserDefaultsStorage(authenticationTag: nil) } ?? program
  }

  private static let program = UserDefaultsStorage(authenticationTag: nil)

  /// Creates a storage of a suite.
  ///
  /// The file is opened, or created, at the first use.
  ///
  /// - Parameters:
  ///   - suiteName: 1 to 200 bytes without a slash; with any other name, every use is the error
  ///     `invalid`.
  ///   - keySource: supplies the key.
  ///   - durability: when a write is on disk.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  ///   - errorClosure: receives the errors of calls that can't throw.
  public convenience init(
    suiteName: String, keySource: KeySource, durability: DefaultsDurability = .immediate,
    authenticationTag: Data? = nil, errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      DefaultsDelegate(suiteName: suiteName, durability: durability), keySource: keySource,
      authenticationTag: authenticationTag, errorClosure: errorClosure)
  }

  /// Creates a storage of a suite's file at any place.
  ///
  /// - Parameters:
  ///   - url: an absolute file URL of a file `NAME.secure.plist`; with any other name, every use is
  ///     the error `invalid`.
  ///   - keySource: supplies the key.
  ///   - durability: when a write is on disk.
  ///   - deadline: how long a write waits for other processes before it throws `busy`.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  ///   - errorClosure: receives the errors of calls that can't throw.
  public convenience init(
    at url: URL, keySource: KeySource, durability: DefaultsDurability = .immediate,
    deadline: Duration = .seconds(5), authenticationTag: Data? = nil,
    errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      DefaultsDelegate(at: url, durability: durability, deadline: deadline), keySource: keySource,
      authenticationTag: authenticationTag, errorClosure: errorClosure)
  }

  /// Creates a storage of a suite with the application's own key; nil if the suite name is invalid.
  ///
  /// - Parameters:
  ///   - suiteName: the suite; nil means the application id.
  ///   - symmetricKey: 256 bits. With nil, every use throws `keyUnavailable`; the storage never
  ///     writes plaintext.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  @_disfavoredOverload  // prefers the `generate()` that needs no `try`
  public convenience init?(
    suiteName: String?, symmetricKey: SymmetricKey?, authenticationTag: Data? = nil
  ) {
    self.init(
      suiteName: suiteName,
      symmetricKey: symmetricKey.map { KeySource.key($0) } ?? KeySource.missing,
      authenticationTag: authenticationTag)
  }

  /// The storage of a suite with the key of a source, for `SymmetricKey.generate()` without `try`.
  ///
  /// New code uses ``init(suiteName:keySource:durability:authenticationTag:errorClosure:)``.
  ///
  /// - Parameters:
  ///   - suiteName: the suite; nil means the application id. An invalid name makes the initializer
  ///     return nil.
  ///   - symmetricKey: where the key comes from. If it gives no key, every use throws the reason.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  public convenience init?(
    suiteName: String?, symmetricKey: KeySource, authenticationTag: Data? = nil
  ) {
    let delegate: any RecordPlace
    if let suiteName {
      do throws(StorageError) { try SuiteName.validate(suiteName) } catch { return nil }
      delegate = DefaultsDelegate(suiteName: suiteName)
    } else {
      delegate = DefaultsDelegate.ofApplication
    }
    self.init(
      delegate, keySource: symmetricKey, authenticationTag: authenticationTag, errorClosure: nil)
  }

  /// Creates a storage of the standard suite with the bootstrapped key source and an authentication
  /// tag.
  ///
  /// - Parameter authenticationTag: further data that must match when a value is opened; it is not
  ///   stored.
  public convenience init(authenticationTag: Data? = nil) {
    self.init(
      DefaultsDelegate.ofApplication, keySource: TestStores.inUse?.keySource ?? .bootstrapped,
      authenticationTag: authenticationTag, errorClosure: nil)
  }
}

extension DefaultsDelegate {
  /// The delegate of the suite that is named after the application; the id is read at the first
  /// use.
  ///
  /// In a test that has its own stores, the test's delegate.
  fileprivate static var ofApplication: any RecordPlace {
    if let test = TestStores.inUse {
      return test.folder.map { DefaultsDelegate(folder: $0, suiteName: "standard") }
        ?? test.delegate(of: "defaults")
    }
    let use: @Sendable () -> StoreAccess = { SecureStorage.configuration.access }
    return DefaultsDelegate(durability: .immediate, use: use) { () throws(StorageError) in
      let name = try SecureStorage.configuration(for: "the standard UserDefaults storage")
        .applicationID
      return try SuiteName.path(of: name, in: StandardFolders.configuration())
    }
  }
}
