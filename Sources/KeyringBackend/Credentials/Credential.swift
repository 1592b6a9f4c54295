public import CryptoCore
public import StorageCore

/// The type of `$credential`.
///
/// Its calls throw errors, which the property itself can't do.
///
/// `Value` is the type of the stored value; the property is a `Value?`. A credential addresses an
/// item and holds no secret. Copies share the account. Any thread may use it.
///
/// All calls throw `StorageError`: `locked`, `noBus`, `noService`, `noCollection`, `timedOut`,
/// `cancelled`, `dismissed`, `duplicate` when several items match, `typeMismatch` for an item that
/// a ``Keyring`` has sealed, `invalid` for a zero character in a name and for what the service
/// refuses, `io` and the like; calls that change something also throw `outcomeUnknown`.
public struct Credential<Value: Codable & Sendable>: OptionalStoredProperty, Sendable {
  /// The item and the coding.
  public let core: CredentialCore<Value>

  init(_ item: SharedCredential, coding: PlainCoding? = nil) {
    core = CredentialCore(item: item, coding: coding)
  }

  /// The item with its secret and all of its attributes, or nil when there is none.
  ///
  /// - Throws: as ``Credential``.
  public var item: KeyringItem? {
    get throws(StorageError) { try core.item.item() }
  }

  // MARK: - The account

  /// The account that is looked for; if none was given, the account of the existing item.
  ///
  /// Setting it changes the stored item in one step, keeps everything else, and looks for the new
  /// account from then on. A failure is reported, and the account then stays as it was; use
  /// ``setAccount(_:)`` to get the error thrown.
  public var account: String? {
    get {
      do throws(StorageError) { return try core.item.storedAccount() } catch {
        core.report(error)
        return nil
      }
    }
    nonmutating set {
      do throws(StorageError) { try core.item.setAccount(newValue) } catch { core.report(error) }
    }
  }

  /// Changes the account of the stored item in one step, keeps everything else, and looks for the
  /// new account from then on, even if there is no item yet.
  ///
  /// - Parameter account: the new one; nil removes the attribute, and any account is looked for
  ///   from then on.
  /// - Throws: as ``Credential``; `duplicate` also when another item has that account already.
  ///   Nothing is then changed, except with `outcomeUnknown`.
  public func setAccount(_ account: String?) throws(StorageError) {
    try core.item.setAccount(account)
  }

  // MARK: - Changes

  /// The value now, then after every change by any program; see ``CredentialValues``.
  public var values: CredentialValues<Value> { CredentialValues(credential: self) }
}

extension Credential: KeyringQueryable, ItemQuerying {
  /// The attributes that the item is found by.
  public var attributes: KeyringAttributes { core.item.place.attributes(core.item.account) }

  /// One item, in the credential's collection.
  public var options: KeyringOptions {
    let options = KeyringOptions.matchFirst.union([.access(core.item.access)])
    return core.item.group.map { options.union([.group($0)]) } ?? options
  }

  var itemQueries: ItemQueries { ItemQueries(client: core.item.client) }
}

extension Credential: RedactedDescription {
  /// The service, server or name, and no secret.
  public var description: String { "Credential(\"\(core.item.place.name)\")" }
}
