public import StorageCore

public import struct FoundationEssentials.Data

/// A storage over a place of the application, such as its own wrapper of a keychain.
///
///     let storage = ProviderStorage(MyKeychain.shared, keySource: .automatic)
///     @Live(storage, "token") var token: String?
///
/// Storages over one provider, equal providers, or providers of one type that lead to the same data
/// see each other's changes. Each read of `@Store` sees what others did
/// with the provider's data. A live property sees it when the provider is an
/// ``ObservableKeychainProvider``, at the next turn of `polling`, or when anybody reads the key
/// again.
///
/// Every call of the provider has a deadline. A read that exceeds it is `timedOut`, a write
/// `outcomeUnknown`, and all calls fail at once until the provider returns. When the provider
/// returns false, the call is the error `io` and changes nothing. If the provider did only a part
/// of a write, such as one of a value and the header, the call is `outcomeUnknown`: write again.
public final class ProviderStorage: DelegatedStorage, @unchecked Sendable {
  // Adds no state to DelegatedStorage.

  /// The default deadline of a call of the provider.
  public static let standardDeadline: Duration = .seconds(5)

  /// Creates a storage that hashes names and seals values.
  ///
  /// The provider also keeps the store's header. Only one process at a time may write, because a
  /// provider has no atomic step across processes.
  ///
  /// - Parameters:
  ///   - provider: keeps the data.
  ///   - keySource: supplies the key.
  ///   - polling: how often to check for others' changes while somebody follows a value, at least
  ///     10 ms; nil means never. Each check reads all followed keys. Not needed for a provider that
  ///     reports changes.
  ///   - deadline: how long a call may take.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  ///   - errorClosure: receives the errors of calls that can't throw.
  public convenience init(
    _ provider: some KeychainProvider, keySource: KeySource, polling: Duration? = nil,
    deadline: Duration = standardDeadline, authenticationTag: Data? = nil,
    errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      ProviderDelegate(provider, deadline: deadline, polling: polling), keySource: keySource,
      authenticationTag: authenticationTag, errorClosure: errorClosure)
  }

  /// Creates a storage that keeps names and JSON in the clear: nothing is hashed and nothing is
  /// sealed.
  ///
  /// Use it for a provider that protects its data itself, and for data that the provider already
  /// has. Values are JSON: use `@Live`, the Codable wrappers, and `load(decodable:)`. A value in
  /// another form, such as a simple type in `@Store`, is the error `unsupported`. A key has at most
  /// 1,024 bytes.
  ///
  /// - Parameters:
  ///   - provider: keeps the data.
  ///   - polling: how often to check for others' changes while somebody follows a value, at least
  ///     10 ms; nil means never.
  ///   - deadline: how long a call may take.
  ///   - errorClosure: receives the errors of calls that can't throw.
  public convenience init(
    plain provider: some KeychainProvider, polling: Duration? = nil,
    deadline: Duration = standardDeadline, errorClosure: StorageErrorClosure? = nil
  ) {
    let delegate = PlainProviderDelegate(provider, deadline: deadline, polling: polling)
    self.init(
      delegate, clear: delegate.records, key: PlainProviderDelegate.key,
      errorClosure: errorClosure)
  }
}
