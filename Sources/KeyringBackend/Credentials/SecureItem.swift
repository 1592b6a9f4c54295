public import CryptoCore
public import FoundationEssentials
public import StorageCore

/// A `Codable` value of the application's own in the desktop's keyring; nil when there is none.
///
///     @SecureItem(name: "session") var session: Session?
///
/// The item has the attributes `application`, which is the application's id, `item`, which is the
/// name, and the account if one is given; its secret is the encoder's output, plain. A value that
/// other programs need not read belongs into `@CodableKeychain`. Otherwise as
/// ``SecureCredentials``.
@propertyWrapper
public struct SecureItem<Value: Codable & Sendable>: Sendable {
  /// The calls that throw: `$property.load()` and the like.
  public let projectedValue: Credential<Value>

  /// A value of a name, as JSON.
  ///
  /// Nothing is looked at before the first use.
  ///
  /// - Parameters:
  ///   - name: the attribute `item`, and the label of a new item.
  ///   - account: its account; nil for any account, if only one item matches.
  ///   - encoder: makes the secret of a value; do not change the encoder afterwards.
  ///   - decoder: makes a value of the secret; do not change the decoder afterwards.
  ///   - group: the collection, by its alias or its label; nil for the default one.
  ///   - access: how calls wait, and whether they may ask the user.
  ///   - errorClosure: takes the errors of the property itself; nil for `StorageDiagnostics`.
  public init(
    name: String, account: String? = nil, encoder: JSONEncoder = JSONEncoder(),
    decoder: JSONDecoder = JSONDecoder(), group: String? = nil,
    access: KeyringAccess = .standard, errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      Credential(
        SharedCredential(
          .item(name, label: nil), account: account, group: group, access: access,
          client: access.client, errorClosure: errorClosure), coding: PlainCoding(encoder, decoder))
    )
  }

  /// A value of a name, as a property list.
  ///
  /// - Parameters:
  ///   - name: the attribute `item`, and the label of a new item.
  ///   - account: its account; nil for any account, if only one item matches.
  ///   - encoder: makes the secret of a value; do not change the encoder afterwards.
  ///   - decoder: makes a value of the secret; do not change the decoder afterwards.
  ///   - group: the collection, by its alias or its label; nil for the default one.
  ///   - access: how calls wait, and whether they may ask the user.
  ///   - errorClosure: takes the errors of the property itself; nil for `StorageDiagnostics`.
  public init(
    name: String, account: String? = nil, encoder: PropertyListEncoder,
    decoder: PropertyListDecoder = PropertyListDecoder(), group: String? = nil,
    access: KeyringAccess = .standard, errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      Credential(
        SharedCredential(
          .item(name, label: nil), account: account, group: group, access: access,
          client: access.client, errorClosure: errorClosure), coding: PlainCoding(encoder, decoder))
    )
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

extension SecureItem: RedactedDescription {
  /// The service or the like, and no secret.
  public var description: String { "SecureItem(\"\(projectedValue.key)\")" }
}
