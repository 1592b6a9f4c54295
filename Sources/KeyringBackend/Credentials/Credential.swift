public import CryptoCore
public import StorageCore

/// The type of `$credential`, with the calls that throw, which the property itself can't.
///
/// `Value` is the type of the stored value; the property is a `Value?`. A credential addresses an
/// item and holds no secret. Copies share the account. Any thread may use it.
///
/// All calls throw `StorageError`: `locked`, `noBus`, `noService`, `noCollection`, `timedOut`,
/// `cancelled`, `dismissed`, `duplicate` when several items match, `typeMismatch` for an item that
/// a ``Keyring`` has sealed, `invalid` for a zero character in a name and for what the service
/// refuses, `io` and the like; those that change something `outcomeUnknown` as well.
public struct Credential<Value: Codable & Sendable>: Sendable {
  let core: CredentialCore
  /// How a value becomes a secret; nil for the value forms of ``Keyring``.
  let coding: PlainCoding?

  // MARK: - The value

  /// The value, or nil when there is none.
  ///
  /// - Throws: as ``Credential``; `typeMismatch` when it is no `Value`.
  public func load() throws(StorageError) -> Value? {
    do throws(StorageError) {
      let value = try decoded()
      core.noteRead(nil)
      return value
    } catch {
      core.noteRead(error)
      throw error
    }
  }

  private func decoded() throws(StorageError) -> Value? {
    guard let secret = try core.read() else { return nil }
    do throws(StorageError) { return try value(of: secret) } catch {
      throw error.about(core.place.name)
    }
  }

  func value(of secret: PlainSecret) throws(StorageError) -> Value {
    guard let coding else { return try secret.value(of: Value.self) }
    return try coding.decode(Value.self, secret.data)
  }

  /// Stores a value in place of any other, or deletes the item when it is nil.
  ///
  /// An item that is there keeps its label and its attributes.
  ///
  /// - Throws: as ``Credential``; the old value is then still there, except with `outcomeUnknown`.
  public func save(_ value: Value?) throws(StorageError) {
    guard let value else { return try remove() }
    let secret: PlainSecret
    do throws(StorageError) {
      if let coding {
        secret = try PlainSecret(encoded: try coding.encode(value))
      } else {
        secret = try PlainSecret(value)
      }
    } catch {
      throw error.about(core.place.name)
    }
    try core.write(secret)
    core.noteRead(nil)
  }

  /// Deletes the item, if there is one.
  ///
  /// - Throws: as ``Credential``.
  public func remove() throws(StorageError) {
    try core.remove()
    core.noteRead(nil)
  }

  /// The state of the value: unlike the property itself, it tells absent from failed.
  public var state: PropertyState<Value> {
    PropertyState { () throws(StorageError) in try load() }
  }

  /// The item with its secret and all of its attributes, or nil when there is none.
  ///
  /// - Throws: as ``Credential``.
  public var item: KeyringItem? {
    get throws(StorageError) { try core.item() }
  }

  // MARK: - The account

  /// The account that is looked for; if none was given, the account of the existing item.
  ///
  /// Setting it changes the stored item, in one step and with all else kept, and looks for the new
  /// account from then on. A failure is reported, and the account then stays as it was; use
  /// ``setAccount(_:)`` to have it thrown.
  public var account: String? {
    get {
      do throws(StorageError) { return try core.storedAccount() } catch {
        core.report(error)
        return nil
      }
    }
    nonmutating set {
      do throws(StorageError) { try core.setAccount(newValue) } catch { core.report(error) }
    }
  }

  /// Changes the account of the stored item, in one step and with all else kept, and looks for the
  /// new account from then on; also when there is no item yet.
  ///
  /// - Parameter account: the new one; nil removes the attribute, and any account is looked for
  ///   from then on.
  /// - Throws: as ``Credential``; `duplicate` also when another item has that account already.
  ///   Nothing is then changed, except with `outcomeUnknown`.
  public func setAccount(_ account: String?) throws(StorageError) {
    try core.setAccount(account)
  }

  // MARK: - Changes

  /// The value now, then after every change by whichever program; see ``CredentialValues``.
  public var values: CredentialValues<Value> { CredentialValues(credential: self) }

  // MARK: - What the wrappers do

  /// A wrapper's getter: an error is reported, and nil is returned.
  func get() -> Value? {
    do throws(StorageError) { return try load() } catch {
      core.noteRead(error, gaveDefault: true)
      core.report(error)
      return nil
    }
  }

  /// A wrapper's setter.
  func set(_ value: Value?) {
    do throws(StorageError) {
      try core.checkAssignment()
      try save(value)
    } catch {
      core.report(error)
    }
  }
}

// MARK: - Async

extension Credential {
  /// As ``load()``, without blocking a thread of Swift concurrency.
  ///
  /// When the task is cancelled, the call ends with `cancelled`; the same holds for all async calls
  /// here. `async(_:)` makes every other call.
  ///
  /// - Throws: as ``load()``.
  public func loadAsync() async throws(StorageError) -> Value? {
    try await Blocking.run { () throws(StorageError) in try self.load() }
  }

  /// As ``save(_:)``, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``save(_:)``.
  public func saveAsync(_ value: Value?) async throws(StorageError) {
    try await Blocking.run { () throws(StorageError) in try self.save(value) }
  }

  /// As ``remove()``, without blocking a thread of Swift concurrency.
  ///
  /// - Throws: as ``remove()``.
  public func removeAsync() async throws(StorageError) {
    try await Blocking.run { () throws(StorageError) in try self.remove() }
  }
}

extension Credential: KeyringQueryable, ItemQuerying {
  /// The attributes that the item is found by.
  public var attributes: KeyringAttributes { core.place.attributes(core.account) }

  /// One item, in the credential's collection.
  public var options: KeyringOptions {
    let options = KeyringOptions.matchFirst.union([.access(core.access)])
    return core.group.map { options.union([.group($0)]) } ?? options
  }

  var itemQueries: ItemQueries { ItemQueries(client: core.client) }
}

extension Credential: RedactedDescription {
  /// The service, server or name, and no secret.
  public var description: String { "Credential(\"\(core.place.name)\")" }
}
