public import StorageCore

public import struct Foundation.Data

/// A storage over a place of the application's own.
///
///     let storage = ProviderStorage(MyKeychain.shared, keySource: .automatic)
///     @Live(storage, "token") var token: String?
///
/// Storages over one provider are in step. What others do with the provider's data is seen by each read
/// of `@Store`; a live property hears of it when the provider is an ``ObservableKeychainProvider``, at
/// the next turn of `polling`, or when anybody reads the key anew. Every call of the provider has a
/// deadline: a read that passes it is `timedOut`, a write `outcomeUnknown`, and until the provider
/// returns, all calls fail at once. What it returns false for is `io`, and changes nothing; a change of
/// which the provider took a part, as it had to keep a value and the header, is `outcomeUnknown`: do it
/// again.
public final class ProviderStorage: DelegatedStorage, @unchecked Sendable {
  // Adds no state to DelegatedStorage.

  /// How long a call of the provider may take unless said otherwise.
  public static let standardDeadline: Duration = .seconds(5)

  /// A storage whose names are hashed and whose values are sealed, as everywhere.
  ///
  /// The provider keeps the store's header as well. One process at a time may write: a provider has no
  /// atomic step that others would see.
  ///
  /// - Parameters:
  ///   - provider: where the data is kept.
  ///   - keySource: where the key comes from.
  ///   - polling: how often to look what others did while somebody follows a value, at least 10 ms; nil
  ///     for never. Each turn reads all keys that are followed. Not needed for a provider that tells.
  ///   - deadline: how long a call may take.
  ///   - authenticationTag: further data that must match when a value is opened; it is not stored.
  ///   - errorClosure: takes the errors of calls that can't throw.
  public convenience init(
    _ provider: some KeychainProvider, keySource: KeySource, polling: Duration? = nil,
    deadline: Duration = standardDeadline, authenticationTag: Data? = nil,
    errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      ProviderDelegate(provider, deadline: deadline, polling: polling), keySource: keySource,
      authenticationTag: authenticationTag, errorClosure: errorClosure)
  }

  /// A storage that keeps names and JSON as they are: nothing is hashed and nothing is sealed.
  ///
  /// For a provider that protects its data itself, and for data that it has already. Values are JSON:
  /// use `@Live`, the Codable wrappers, and `load(decodable:)`. A value in another form, as `@Store` has
  /// it for simple types, is the error `unsupported`; a key has at most 1,024 bytes.
  ///
  /// - Parameters:
  ///   - provider: where the data is kept.
  ///   - polling: how often to look what others did, as above.
  ///   - deadline: how long a call may take.
  ///   - errorClosure: takes the errors of calls that can't throw.
  public convenience init(
    plain provider: some KeychainProvider, polling: Duration? = nil,
    deadline: Duration = standardDeadline, errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      PlainProviderDelegate(provider, deadline: deadline, polling: polling),
      keySource: .key(PlainProviderDelegate.key), errorClosure: errorClosure)
  }
}
