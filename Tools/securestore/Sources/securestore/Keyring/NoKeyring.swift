#if !Keyring
  // A build without libsecret: the trait Keyring is off. Everything that needs a keyring says so.
  internal import CryptoCore
  internal import DefaultsBackend
  internal import StorageCore

  extension Failure {
    fileprivate static let noKeyring = Failure(
      .unsupported,
      "this securestore was built without the keyring; see make tool in the repository")
  }

  extension VaultPlace {
    /// Always throws: this build has no keyring.
    func keyring(_ name: String) throws -> KeySource { throw Failure.noKeyring }

    /// Always throws: this build has no keyring.
    func desktop() throws -> KeySource { throw Failure.noKeyring }
  }

  /// The sealed store of an application in the keyring; this build has none.
  enum KeychainPlace {
    init(application: String, _ place: VaultPlace) throws { throw Failure.noKeyring }

    func slots() throws -> [KeySlot] { switch self {} }

    func storage(
      _ slots: [KeySlot], choice: KeySource?, otherwise other: KeySource
    ) -> UserDefaultsStorage { switch self {} }
  }

  /// The plain items of the keyring; this build has none.
  enum PlainItems {
    init(_ items: ItemOptions, _ id: String? = nil) throws { throw Failure.noKeyring }

    func secret(of service: String, _ account: String?) throws -> [UInt8] { switch self {} }

    func store(
      _ secret: SecureBytes, of service: String, _ account: String, label: String?
    ) throws { switch self {} }

    func all(of service: String?) throws -> [PlainItem] { switch self {} }

    func remove(_ service: String, _ account: String?) throws -> Bool { switch self {} }
  }

  /// The findings of a build that can't check a keyring.
  struct KeyringFindings {
    let needed: Set<String>

    init(needed: [String], application: String?, deadline: Duration) {
      self.needed = Set(needed)
    }

    let isUsable = false

    func all() -> [Finding] {
      let state: Finding.State = needed.isEmpty ? .absent : .bad
      return [Finding("keyring", state, Failure.noKeyring.message, code: .unsupported)]
    }
  }
#endif
