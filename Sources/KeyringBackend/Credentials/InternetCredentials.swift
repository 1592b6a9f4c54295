public import CryptoCore
public import StorageCore

public import struct FoundationEssentials.URL

/// A password for a server in the desktop's keyring, shared with other programs; nil when there is
/// none.
///
///     @InternetCredentials(server: URL(string: "https://www.example.com"), account: "me")
///     var password: String?
///
/// A new item has the schema `org.gnome.keyring.NetworkPassword` and its attributes `server`,
/// `user`, `protocol`, `port` and `object`, so that other programs recognise it. An item with
/// exactly this port and path comes first. If there is none, an item with that server and account
/// that has no port or path counts, too: other programs may leave them out. An item of another port
/// or path is never read, replaced or removed, also by a property that names no port or path;
/// assigning then makes a new item. The protocol must be the same where both name one.
///
/// A keyring stores the server, account, protocol, port and path without encryption. So everything
/// that is not the name of a host, such as a URL as text, is the error `invalid`, and is not
/// stored.
/// Otherwise as ``SecureCredentials``.
@propertyWrapper
public struct InternetCredentials<Value: Codable & Sendable>: Sendable {
  /// The calls that throw: `$property.load()` and the like.
  public let projectedValue: Credential<Value>

  /// A password for the server of a URL; the URL's port and path count, too.
  ///
  /// Nothing is looked at before the first use.
  ///
  /// - Parameters:
  ///   - label: what keyring programs show of a new item; nil for the host name.
  ///   - server: a URL with a host, in letters of any case; nil, or one without, is the error
  ///     `invalid` at every use. Its user, password, query and fragment are not used.
  ///   - account: its account; nil for any account, if only one item matches.
  ///   - protocol: the protocol; nil for the URL's scheme.
  ///   - group: the collection, by its alias or its label; nil for the default one.
  ///   - access: how calls wait, and whether they may ask the user.
  ///   - errorClosure: takes the errors of the property itself; nil for `StorageDiagnostics`.
  public init(
    label: String? = nil, server: URL?, account: String? = nil,
    protocol: InternetProtocol? = nil, group: String? = nil, access: KeyringAccess = .standard,
    errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      Credential(
        SharedCredential(
          .server(of: server, protocol: `protocol`, label: label), account: account, group: group,
          access: access, client: access.client, errorClosure: errorClosure)))
  }

  /// A password for a server.
  ///
  /// Nothing is looked at before the first use.
  ///
  /// - Parameters:
  ///   - label: what keyring programs show of a new item; nil for the host name.
  ///   - server: a host name or IP address, and nothing else; any other text is the error `invalid`
  ///     at every use.
  ///   - account: its account; nil for any account, if only one item matches.
  ///   - protocol: the protocol; nil for any.
  ///   - port: the port, 1 to 65535; nil for an item without one.
  ///   - path: the path at the server, without a query; nil for an item without one.
  ///   - group: the collection, by its alias or its label; nil for the default one.
  ///   - access: how calls wait, and whether they may ask the user.
  ///   - errorClosure: takes the errors of the property itself; nil for `StorageDiagnostics`.
  public init(
    label: String? = nil, server: String, account: String? = nil,
    protocol: InternetProtocol? = nil, port: Int? = nil, path: String? = nil,
    group: String? = nil, access: KeyringAccess = .standard,
    errorClosure: StorageErrorClosure? = nil
  ) {
    self.init(
      Credential(
        SharedCredential(
          .server(server, port: port, path: path, protocol: `protocol`, label: label),
          account: account, group: group, access: access, client: access.client,
          errorClosure: errorClosure)))
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

extension InternetCredentials: RedactedDescription {
  /// The service or the like, and no secret.
  public var description: String { "InternetCredentials(\"\(projectedValue.key)\")" }
}
