public import CryptoCore
public import StorageCore

public import struct Foundation.Data

/// Values in a property list in the user's configuration folder, sealed.
///
/// The place and format of Foundation's `UserDefaults`, and not its code: a write is durable before
/// it returns, or said to be so later (``DefaultsDurability``), a kill or a full disk leaves the
/// old values or the new ones, and processes that share a suite see and keep each other's writes.
/// The file is written as a whole at each change, so it is not for thousands of values that change
/// often. See ``DefaultsDelegate`` for the file.
public final class UserDefaultsStorage: DelegatedStorage, StandardStorage, @unchecked Sendable {
  // Adds an immutable reference to DelegatedStorage.
  /// Nil where a test keeps the values in memory.
  private let delegate: DefaultsDelegate?

  /// The storage that `@UserDefault` and its family use; in a test with stores of its own, the test's.
  ///
  /// Its suite is the application id, its key comes from the key source of
  /// `SecureStorage.bootstrap(applicationID:keySource:)`, which is to be called before.
  public static var standard: UserDefaultsStorage {
    TestStores.inUse?.kept { UserDefaultsStorage(authenticationTag: nil) } ?? program
  }

  private static let program = UserDefaultsStorage(authenticationTag: nil)

  /// The storage of a suite.
  ///
  /// Its file is looked at, or made, at the first use.
  ///
  /// - Parameters:
  ///   - suiteName: 1 to 200 bytes without a slash; any other is the error `invalid` at every use.
  ///   - keySource: where the key comes from.
  ///   - durability: when a write is on disk.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  ///   - errorClosure: takes the errors of calls that can't throw.
  public convenience init(
    suiteName: String, keySource: KeySource, durability: DefaultsDurability = .immediate,
    authenticationTag: Data? = nil, errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      DefaultsDelegate(suiteName: suiteName, durability: durability), keySource: keySource,
      authenticationTag: authenticationTag, errorClosure: errorClosure)
  }

  /// The storage of a suite with a key of the application's own.
  ///
  /// - Parameters:
  ///   - suiteName: the suite; nil is the application id. Nil is returned for a name that can't be.
  ///   - symmetricKey: 256 bits. Nil is the error `keyUnavailable` at every use: never plaintext.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  @_disfavoredOverload  // Else a `SymmetricKey.generate()` without `try` is the one that throws.
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
  /// New code says ``init(suiteName:keySource:durability:authenticationTag:errorClosure:)``.
  ///
  /// - Parameters:
  ///   - suiteName: the suite; nil is the application id. Nil is returned for a name that can't be.
  ///   - symmetricKey: where the key comes from. Why it can't be had is the error of every use.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  public convenience init?(
    suiteName: String?, symmetricKey: KeySource, authenticationTag: Data? = nil
  ) {
    let delegate: any KeysetDelegate
    if let suiteName {
      do throws(StorageError) { try SuiteName.validate(suiteName) } catch { return nil }
      delegate = DefaultsDelegate(suiteName: suiteName)
    } else {
      delegate = DefaultsDelegate.ofApplication
    }
    self.init(
      delegate, keySource: symmetricKey, authenticationTag: authenticationTag, errorClosure: nil)
  }

  /// The standard suite, with the bootstrapped key source, under an authentication tag.
  ///
  /// - Parameter authenticationTag: further data that must match when a value is opened; it is not
  ///   stored.
  public convenience init(authenticationTag: Data? = nil) {
    self.init(
      DefaultsDelegate.ofApplication, keySource: TestStores.inUse?.keySource ?? .bootstrapped,
      authenticationTag: authenticationTag, errorClosure: nil)
  }

  /// The storage over a delegate: of a suite, or of a test's in memory.
  package init(
    _ delegate: any KeysetDelegate, keySource: KeySource, authenticationTag: Data? = nil,
    errorClosure: StorageErrorClosure? = nil
  ) {
    self.delegate = delegate as? DefaultsDelegate
    super.init(
      delegate, keySource: keySource, authenticationTag: authenticationTag,
      errorClosure: errorClosure)
  }

  /// Writes what waits to be written, durably.
  ///
  /// Does nothing with immediate durability.
  ///
  /// - Throws: `StorageError`: why it can't be written. It is kept and tried again, except with
  ///   `outcomeUnknown`: the file was removed or replaced, and what was sealed for it is dropped.
  public func flush() throws(StorageError) {
    try delegate?.flush()
  }
}

extension DefaultsDelegate {
  /// The delegate of the suite that is named for the application, which is asked at first use; in a
  /// test with stores of its own, the test's.
  fileprivate static var ofApplication: any KeysetDelegate {
    if let test = TestStores.inUse {
      return test.folder.map { DefaultsDelegate(folder: $0, suiteName: "standard") }
        ?? test.delegate(of: "defaults")
    }
    let use: @Sendable () -> SecureStorage.Access = { SecureStorage.configuration.access }
    return DefaultsDelegate(durability: .immediate, use: use) { () throws(StorageError) in
      let name = try SecureStorage.configuration(for: "the standard UserDefaults storage")
        .validated().applicationID
      return try SuiteName.path(of: name, in: StandardFolders.configuration())
    }
  }
}
