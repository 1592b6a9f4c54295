public import CryptoCore
public import StorageCore

/// A secret of a service in the desktop's keyring, shared with other programs; nil when there is
/// none.
///
///     @SecureCredentials(label: "GitHub token", service: "github.token", account: "me@host")
///     var token: String?
///
/// The item is the one that `secret-tool lookup service github.token account me@host` finds, and
/// that a ``Keyring`` of this service uses. Values have the forms that
/// ``Keyring/Container/store(_:)`` gives them. A wrapper works in structs, classes, actors and
/// local variables; it is a Sendable value, whose copies share the account. The property never
/// traps: failures are reported; the calls of `$token` throw them. After a read that failed,
/// assigning is refused until a read succeeds or `$token.save(_:)` is called.
@propertyWrapper
public struct SecureCredentials<Value: Codable & Sendable>: Sendable {
  /// The calls that throw: `$property.load()` and the like.
  public let projectedValue: Credential<Value>

  /// A secret of a service.
  ///
  /// Nothing is looked at before the first use.
  ///
  /// - Parameters:
  ///   - label: what keyring programs show of a new item; nil for the service.
  ///   - service: the attribute `service`.
  ///   - account: its account; nil for any account, if only one item matches.
  ///   - group: the collection, by its alias or its label; nil for the default one.
  ///   - access: how calls wait, and whether they may ask the user.
  ///   - errorClosure: takes the errors of the property itself; nil for `StorageDiagnostics`.
  public init(
    label: String? = nil, service: String, account: String? = nil, group: String? = nil,
    access: KeyringAccess = .standard, errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      Credential(
        SharedCredential(
          .service(service, label: label), account: account, group: group, access: access,
          client: access.client, errorClosure: errorClosure)))
  }

  init(_ credential: Credential<Value>) { projectedValue = credential }

  /// The stored value, or nil when there is none or it could not be read; a failed read is
  /// reported.
  ///
  /// Assigning nil deletes the item. Reading and assigning take three to six calls over the bus.
  public var wrappedValue: Value? {
    get { projectedValue.core.get() }
    nonmutating set { projectedValue.core.set(newValue) }
  }
}

extension SecureCredentials: RedactedDescription {
  /// The service or the like, and no secret.
  public var description: String { "SecureCredentials(\"\(projectedValue.key)\")" }
}
