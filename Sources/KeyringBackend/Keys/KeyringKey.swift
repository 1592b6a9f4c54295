internal import CryptoCore
internal import StorageCore

/// A key that is an item of the keyring: docs/file-format.md, "Keyring".
final class KeyringKey: Sendable {
  private static let schema = "SecurePropertyStorage.Key"
  /// The key is stored as text, so that services which treat all secrets as text keep it intact.
  private static let contentType = "text/plain"

  let name: String
  private let collection: String?
  private let access: KeyringAccess
  private let client: KeyringClient
  private let lastAbsence = Lock<String?>(nil)

  init(name: String, collection: String?, access: KeyringAccess, client: KeyringClient) {
    self.name = name
    self.collection = collection
    self.access = access
    self.client = client
  }

  private var attributes: [String: String] { Self.attributes(of: name) }

  /// The attributes that the key of a name is found by.
  static func attributes(of name: String) -> [String: String] {
    ["xdg:schema": schema, "name": name]
  }

  /// The error if several items have the name: nobody can tell which one is the key.
  static func duplicate(_ name: String) -> BusFailure {
    BusFailure(
      .duplicate,
      "several keyring items claim to be the key \"\(name)\". Use a keyring program to remove all but "
        + "the right one")
  }

  /// Why there was no key when it was last looked for.
  var absence: String? { lastAbsence.withLock { $0 } }

  /// The existing key, or nil when there is no keyring or no key in it.
  func read() throws(StorageError) -> KeyMaterial? {
    let material = try unlessAbsent { () throws(StorageError) in
      try client.perform(access) { (connection, call) throws(BusFailure) in
        try find(connection, call)
      }
    }
    if material == nil {
      lastAbsence.withLock { $0 = $0 ?? "the keyring has no such item" }
    }
    return material
  }

  /// What `body` gives, or nil where there is no keyring; the reason is remembered.
  private func unlessAbsent(
    _ body: () throws(StorageError) -> KeyMaterial?
  ) throws(StorageError) -> KeyMaterial? {
    lastAbsence.withLock { $0 = nil }
    do throws(StorageError) {
      return try body()
    } catch {
      switch error.code {
      case .noBus, .noService, .noCollection:
        lastAbsence.withLock { $0 = error.message }
        return nil
      default: throw error
      }
    }
  }

  private func find(_ connection: BusConnection, _ call: Call) throws(BusFailure) -> KeyMaterial? {
    let items = try connection.find(attributes, in: nil, call)
    guard items.count < 2 else { throw Self.duplicate(name) }
    guard let item = items.first else { return nil }
    try requireEncryption(connection)
    guard let secret = try connection.secrets(of: [item], call)[item] else {
      throw BusConnection.staysLocked
    }
    // KWallet returns an empty secret for a locked item.
    if secret.isEmpty, let collection = item.collection, try connection.isLocked(collection, call) {
      throw BusConnection.staysLocked
    }
    return try storage { () throws(StorageError) in
      let bytes = try cryptography { () throws(CryptoError) in
        try secret.withBytes { (span) throws(CryptoError) in try SecureBytes(copying: span) }
      }
      return try KeyEncoding.material(
        of: bytes, path: nil, source: "the key in the keyring", isText: true)
    }
  }

  /// Refuses to send a key over the bus in the clear, where programs that may watch the bus could
  /// read it.
  private func requireEncryption(_ connection: BusConnection) throws(BusFailure) {
    guard !connection.isEncrypted, !access.allowsPlainKeys else { return }
    throw Self.plain
  }

  /// The error of a service that does not encrypt.
  static let plain = BusFailure(
    .unsupported,
    "the keyring service does not encrypt secrets on the bus, so no key is sent; use another service or "
      + "key source, or allow unencrypted keys with KeyringAccess.allowsPlainKeys")

  /// Makes the key, or reads the one that another process made just before.
  ///
  /// Called only for a store without data, and then only where ``read()`` has found none.
  ///
  /// - Returns: nil where there is no keyring to store it in.
  func make() throws(StorageError) -> KeyMaterial? {
    let folder = try StandardFolders.data(application: name)
    try Folder.create(folder)
    let lock = try FileLock(folder + "/keyring.lock", waiting: access.deadline)
    defer { withExtendedLifetime(lock) {} }
    let key = try cryptography { () throws(CryptoError) in try SymmetricKey.random() }
    let text = try KeyEncoding.encode(key)
    return try unlessAbsent { () throws(StorageError) in try make(key, text) }
  }

  private func make(
    _ key: SymmetricKey, _ text: SecureBytes
  ) throws(StorageError) -> KeyMaterial? {
    try client.perform(access) { (connection, call) throws(BusFailure) in
      if let material = try find(connection, call) { return material }
      try requireEncryption(connection)
      let target = try connection.collection(named: collection, call)
      try connection.ensureUnlocked(target, call)
      let secret = try text.withBytes { (span) throws(BusFailure) in
        // Without the line break, which a person who copies the key would not see.
        try connection.encode(span.extracting(droppingLast: 1), contentType: Self.contentType)
      }
      _ = try connection.createItem(
        in: target, label: "\(name) (key)", attributes: attributes, secret: secret,
        replacing: false, call)
      // One more call proves that the key is stored before data is sealed with it.
      guard let kept = try find(connection, call), case .key(let found) = kept, found == key else {
        throw BusFailure(
          .outcomeUnknown,
          "the keyring service accepted a new key but now returns something else; check the key in a "
            + "keyring program, then try again")
      }
      return kept
    }
  }
}
