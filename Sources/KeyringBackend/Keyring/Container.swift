public import CryptoCore
public import StorageCore

extension Keyring {
  /// The place of one account's secret in a keyring.
  ///
  /// A container addresses an item and holds no secret. Any thread may use it, and every call goes
  /// over the bus. An item that is sealed in another way than this keyring seals is the error
  /// `typeMismatch`. Nothing is stored beside such an item, so that no plain copy stays behind
  /// unseen; copy or move it with a container of its own keyring.
  ///
  /// All calls throw `StorageError`: `locked`, `noBus`, `noService`, `noCollection`, `timedOut`,
  /// `cancelled`, `dismissed`, `duplicate` when several items match the account, `invalid` for a
  /// zero character in a name or what the service refuses, `io` and the like; calls that change
  /// something also throw `outcomeUnknown`.
  public struct Container: Sendable, BlockingCalls {
    /// The keyring of the container.
    public let keyring: Keyring
    /// The attribute `account` of the item.
    public let account: String

    // MARK: - Storing

    /// Stores a value, in place of any other.
    ///
    /// Data is kept as it is, text as UTF-8, numbers and `Bool` as the text that a person would
    /// write, anything else as JSON. An existing item keeps its label and attributes.
    ///
    /// - Parameter value: not an optional.
    /// - Throws: as ``Container``; `invalid` for a value that has no form. The old value is then
    ///   still there, except with `outcomeUnknown`.
    public func store<Value: Encodable>(_ value: Value) throws(StorageError) {
      try about { () throws(StorageError) in _ = try write(try PlainSecret(value), besides: false) }
    }

    // MARK: - Fetching

    /// The value, or nil when there is none.
    ///
    /// `Data` accepts any secret, also text; a `String` accepts any UTF-8, also a number.
    ///
    ///     let token = try container.fetch(String.self)
    ///     let attempts: Int? = try container.fetch()
    ///
    /// - Parameter type: its type, not an optional.
    /// - Returns: the value; nil only when the collection was seen to be unlocked, without such an
    ///   item.
    /// - Throws: as ``Container``; `typeMismatch` when the value has another type; `wrongKey`,
    ///   `damaged` and `keyUnavailable` for a sealed value.
    public func fetch<Value: Decodable>(
      _ type: Value.Type = Value.self
    ) throws(StorageError) -> Value? {
      try about { () throws(StorageError) in try read()?.secret.value(of: type) }
    }

    /// Whether the account has no item.
    ///
    /// Several items, or one that is sealed in another way, count as not empty and are no error
    /// here.
    ///
    /// - Throws: as ``Container``.
    public var isEmpty: Bool {
      get throws(StorageError) {
        let query = query
        return try about { () throws(StorageError) in
          try keyring.perform { (connection, call) throws(BusFailure) in
            try connection.find(query, call).count == 0
          }
        }
      }
    }

    // MARK: - Removing

    /// The value, which is then deleted, or nil when there is none.
    ///
    /// This takes two steps: a value that is stored in between is deleted unseen.
    ///
    /// - Parameter type: its type. A value of another type is the error `typeMismatch`, and stays.
    /// - Returns: the deleted value.
    /// - Throws: as ``fetch(_:)``.
    public func drop<Value: Decodable>(
      _ type: Value.Type = Value.self
    ) throws(StorageError) -> Value? {
      let value = try fetch(type)
      if value != nil { try empty() }
      return value
    }

    /// Deletes the value, if there is one.
    ///
    /// - Throws: as ``Container``.
    public func empty() throws(StorageError) {
      let query = query
      let path = try about { () throws(StorageError) in
        try keyring.perform { (connection, call) throws(BusFailure) in
          let item = try ours(try connection.find(query, call)).only()
          if let item { try connection.remove(item.path, call) }
          return item?.path
        }
      }
      if let path { note(path) }
    }

    // MARK: - Copying

    /// Copies the value to another container, in place of its own.
    ///
    /// A sealed value is opened, and sealed anew as the other keyring seals.
    ///
    /// - Parameter container: the other one.
    /// - Returns: whether there was a value; if not, the other container stays as it is.
    /// - Throws: as ``Container``.
    @discardableResult
    public func copy(to container: Container) throws(StorageError) -> Bool {
      guard let source = try about({ () throws(StorageError) in try read() }) else { return false }
      _ = try container.about { () throws(StorageError) in
        try container.write(source.secret, besides: true)
      }
      return true
    }

    /// Moves the value to another container, in place of its own.
    ///
    /// The value is copied, read back, and only then deleted here: a kill at any moment loses
    /// nothing. Moving it to its own place does nothing.
    ///
    /// A plain value does not replace another value that is sealed: whoever can write to the plain
    /// item would decide the sealed value. ``copy(to:)`` replaces it.
    ///
    /// - Parameter container: the other one.
    /// - Returns: whether there was a value; if not, the other container stays as it is.
    /// - Throws: as ``Container``; `conflict` when this value is plain and the other container has
    ///   a different, sealed value: both stay; `busy` when another program changed the value
    ///   meanwhile,
    ///   or the service was restarted: the value is then in both containers.
    @discardableResult
    public func move(to container: Container) throws(StorageError) -> Bool {
      guard let source = try about({ () throws(StorageError) in try read() }) else { return false }
      let copy = try container.about { () throws(StorageError) in
        if keyring.protection.parts.isEmpty { try container.requireNoOther(source.secret) }
        let written = try container.write(source.secret, besides: true)
        try container.verify(written)
        return written.place
      }
      try about { () throws(StorageError) in
        guard keyring.client === container.keyring.client else { return try remove(source) }
        // A restarted service may have assigned new paths.
        guard copy.connection == source.place.connection else { throw Self.changedMeanwhile }
        if copy != source.place { try remove(source) }
      }
      return true
    }
  }
}

// MARK: - Steps

extension Keyring.Container {
  /// An item, as a connection showed it.
  private struct Place: Equatable {
    let path: ObjectPath
    /// KWallet's items have other paths after a restart.
    let connection: UInt64
  }

  /// A secret that was read, and the item as it was.
  private struct Source {
    let place: Place
    let secret: PlainSecret
    /// The secret as it is in the item.
    let stored: SecureBytes
  }

  /// A secret that was written, as it is in the item.
  private struct Written {
    let place: Place
    let stored: SecureBytes
  }

  private var query: ItemQuery {
    let service = keyring.service
    let protection = keyring.protection
    return ItemQuery(
      alternatives: [
        [AttributeName.service: service, AttributeName.account: account],
        [AttributeName.service: service, AttributeName.username: account],
      ],
      place: .collection(keyring.group), accepts: { protection.isOf($0) },
      subject: "this service and account")
  }

  private var binding: SealedSecret.Binding {
    SealedSecret.Binding(service: keyring.service, account: account, group: keyring.group)
  }

  private func about<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    do throws(StorageError) { return try body() } catch { throw error.about(account) }
  }

  /// The found items, if they are sealed as this keyring seals.
  private func ours(_ found: FoundItems) throws(BusFailure) -> FoundItems {
    guard found.items.isEmpty, found.count > 0 else { return found }
    throw BusFailure(
      .typeMismatch,
      "an item of this account exists, but was sealed with another accessibility or authentication. "
        + "Copy, move or empty it with a Keyring that has these settings")
  }

  private func read() throws(StorageError) -> Source? {
    let query = query
    let found = try keyring.perform { (connection, call) throws(BusFailure) in
      guard let item = try ours(try connection.find(query, call)).only(),
        let secret = try connection.secret(of: item.path, call)
      else { return Optional<(Place, SecureBytes, String)>.none }
      let place = Place(path: item.path, connection: connection.number)
      return (place, try secret.secured(), secret.contentType)
    }
    guard let (place, stored, contentType) = found else { return nil }
    // Opened after the call, whose deadline would run on while somebody types a passcode.
    let secret: PlainSecret
    if keyring.protection.parts.isEmpty {
      secret = PlainSecret(stored, said: contentType)
    } else {
      let opened = try SealedSecret.open(
        stored, keyring.protection.parts,
        { () throws(StorageError) in try keyring.protection.secrets(isNew: false) }, for: binding,
        waivesFloor: keyring.protection.derivation.waivesFloor)
      secret = PlainSecret(opened, said: PlainSecret.text)
    }
    return Source(place: place, secret: secret, stored: stored)
  }

  /// Refuses to replace a sealed secret by another one.
  private func requireNoOther(_ secret: PlainSecret) throws(StorageError) {
    guard !keyring.protection.parts.isEmpty else { return }
    let sealed: Source?
    do throws(StorageError) {
      sealed = try read()
    } catch {
      // An item that is plain or sealed in another way may be the one that is moved.
      guard error.code == .typeMismatch else { throw error }
      return
    }
    guard let sealed, sealed.secret.bytes != secret.bytes else { return }
    throw StorageError(
      .conflict,
      "the other container has another value, which is sealed. A plain value does not replace it, "
        + "and both stay: remove one of them, or call copy(to:)")
  }

  /// Writes a secret.
  ///
  /// `besides` allows an existing item that is sealed in another way.
  private func write(_ secret: PlainSecret, besides: Bool) throws(StorageError) -> Written {
    let protection = keyring.protection
    var attributes = [
      AttributeName.schema: SchemaName.generic, AttributeName.service: keyring.service,
      AttributeName.account: account, AttributeName.username: account,
    ]
    var stored = secret
    if let name = protection.parts.name {
      attributes[AttributeName.sealed] = name
      let sealed = try SealedSecret.seal(
        secret.bytes, protection.parts, try protection.secrets(isNew: true), protection.derivation,
        for: binding)
      stored = PlainSecret(sealed, contentType: PlainSecret.binary)
    }
    let content = ItemContent(
      label: "\(keyring.service) (\(account))", attributes: attributes, secret: stored)
    let query = query
    let place = try keyring.perform { (connection, call) throws(BusFailure) in
      let found = try connection.find(query, call)
      let path = try connection.put(
        content, over: besides ? found : try ours(found), in: keyring.group, call)
      return Place(path: path, connection: connection.number)
    }
    note(place.path)
    return Written(place: place, stored: stored.bytes)
  }

  private func verify(_ written: Written) throws(StorageError) {
    let isThere = try keyring.perform { (connection, call) throws(BusFailure) in
      guard connection.number == written.place.connection else { return false }
      return try connection.secret(of: written.place.path, call)?.holds(written.stored) == true
    }
    guard isThere else {
      throw StorageError(
        .outcomeUnknown,
        "the copy could not be read back as it was written; the original is still there")
    }
  }

  private func remove(_ source: Source) throws(StorageError) {
    try keyring.perform { (connection, call) throws(BusFailure) in
      try storage { () throws(StorageError) in
        guard connection.number == source.place.connection else { throw Self.changedMeanwhile }
      }
      guard let secret = try connection.secret(of: source.place.path, call) else { return }
      try storage { () throws(StorageError) in
        guard secret.holds(source.stored) else { throw Self.changedMeanwhile }
      }
      try connection.remove(source.place.path, call)
    }
    note(source.place.path)
  }

  private static let changedMeanwhile = StorageError(
    .busy,
    "the secret changed, or the keyring service restarted, during the move. The copy exists, and the "
      + "original was not removed. Compare the two, and remove one")

  /// Tells the listeners of this process: not every service sends a signal.
  private func note(_ path: ObjectPath) {
    keyring.client.signals.note(path, by: keyring.client)
  }
}

extension Keyring.Container: RedactedDescription {
  /// The account and the keyring, and no secret.
  public var description: String { "Container(\"\(account)\" in \(keyring))" }
}
