/// The recorded protection of a value; a value under one protection can't be opened as another.
package enum StoredProtection: Hashable, Sendable, Codable {
  /// None: the bytes are stored unchanged.
  case plain
  /// The place seals.
  case place
  case masterKey(MasterKeyID)
  /// The key of the group.
  case groupKey
  /// The material of a provider, by the id of its source.
  case provider(source: String)
  case passcode
}

extension StoredProtection {
  /// The name of the master key, if that seals the value.
  var masterKeyID: String? {
    if case .masterKey(let id) = self { return id.description }
    return nil
  }
}

extension StoredProtection: CustomStringConvertible {
  /// In the words of an error.
  package var description: String {
    switch self {
    case .plain: "no protection"
    case .place: "the protection of its place"
    case .masterKey(let id): "the master key \(id)"
    case .groupKey: "the group's key"
    case .provider(let source): "key material of \(source)"
    case .passcode: "a passcode"
    }
  }
}

/// Names a master key: its place, service and account.
package struct MasterKeyID: Hashable, Sendable, Codable, CustomStringConvertible {
  let kind: PlaceAddress.Kind
  let service: String
  let account: String

  init(_ keychain: PlaceAddress.Kind, _ configuration: EncryptionConfiguration) {
    kind = keychain
    service = configuration.masterKeyService
    account = configuration.masterKeyAccount
  }

  var address: PlaceAddress { PlaceAddress(kind: kind, container: service, name: account) }

  /// Where the new key is while the key is replaced; no declared key has such a name.
  var pendingKey: PlaceAddress {
    PlaceAddress(kind: kind, container: service, name: account + "\u{1F}next")
  }

  /// The place, the service and the account.
  package var description: String { "\(kind.rawValue)/\(service)/\(account)" }
}
