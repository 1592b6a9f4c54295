public import CryptoCore
public import StorageCore

/// The source of the wrappers of credentials: an item of the keyring and a coding.
///
/// Opaque; only `StoredProperty` needs it. Printing it shows no secret. Copies share the account.
public struct CredentialCore<Value: Codable & Sendable>: PropertySource {
  let item: SharedCredential
  /// How a value becomes a secret; nil for the value forms of ``Keyring``.
  let coding: PlainCoding?

  /// The service, the server or the name.
  public var name: StoreKey { item.place.name }

  /// How the keyring is accessed.
  public var home: KeyringAccess { item.access }

  /// Remembers whether the last read failed.
  public var failedRead: FailedRead { FailedRead(name, in: item.failedReads) }

  /// Reads the secret; nil when there is no item.
  public func load() throws(StorageError) -> Value? {
    try failedRead.noting { () throws(StorageError) in
      guard let secret = try item.read() else { return nil }
      do throws(StorageError) { return try value(of: secret) } catch { throw error.about(name) }
    }
  }

  /// The value that a secret encodes.
  func value(of secret: PlainSecret) throws(StorageError) -> Value {
    guard let coding else { return try secret.value(of: Value.self) }
    return try coding.decode(Value.self, secret.data)
  }

  /// Stores a secret, or deletes the item when `value` is nil.
  public func save(_ value: Value?) throws(StorageError) {
    if let value { try item.write(try secret(of: value)) } else { try item.remove() }
    failedRead.forget()
  }

  private func secret(of value: Value) throws(StorageError) -> PlainSecret {
    do throws(StorageError) {
      guard let coding else { return try PlainSecret(value) }
      return try PlainSecret(encoded: try coding.encode(value))
    } catch {
      throw error.about(name)
    }
  }

  /// Whether there is an item, even if its secret can't be read.
  public func contains() throws(StorageError) -> Bool { try item.contains() }

  /// Passes an error to the error closure, or to the diagnostics when there is no closure.
  public func report(_ error: StorageError) { item.report(error) }
}

extension CredentialCore: RedactedDescription {
  /// The service, server or name, and no secret.
  public var description: String { "CredentialCore(\"\(name)\")" }
}
