internal import CryptoCore
internal import StorageCore

/// The keys and the passcode that seal the secrets of a keyring, if any.
struct Protection: Sendable {
  /// The parts of the key that seals a secret.
  struct Parts: OptionSet, Hashable, Sendable {
    let rawValue: UInt8
    static let device = Parts(rawValue: 1)
    static let passcode = Parts(rawValue: 2)

    /// The value of the item's attribute; nil for a plain secret.
    var name: String? {
      switch self {
      case .device: "device"
      case .passcode: "passcode"
      case [.device, .passcode]: "device+passcode"
      default: nil
      }
    }
  }

  let parts: Parts
  /// Where the key of this machine comes from.
  let deviceKey: @Sendable () -> KeySource
  let passcode: @Sendable () throws -> SecureBytes?
  /// How a passcode is stretched for new secrets.
  var derivation = PassphraseDerivation.standard

  /// Whether an item is sealed with these parts, or plain when there are none.
  func isOf(_ item: ItemSnapshot) -> Bool {
    item.attributes[AttributeName.sealed] == parts.name
  }

  // MARK: - Keys

  /// The secrets that go into the key of an item.
  ///
  /// `isNew` says that a secret will be sealed: then this machine's key is made if there never was
  /// one.
  func secrets(isNew: Bool) throws(StorageError) -> SealedSecret.Secrets {
    SealedSecret.Secrets(
      device: parts.contains(.device) ? try device(isNew: isNew) : nil,
      passcode: parts.contains(.passcode) ? try askedPasscode() : nil)
  }

  private func device(isNew: Bool) throws(StorageError) -> SecureBytes {
    guard let candidate = deviceKey().candidates.first else {
      throw StorageError(
        .keyUnavailable,
        "the Keyring's deviceKey lists no source, so this machine has no key; name a source")
    }
    var material = try candidate.read()
    if isNew {
      candidate.keep()
      // Best effort, as the marker of a key file.
      do throws(StorageError) { try candidate.dependents()?.note("items of the keyring") } catch {}
      if material == nil, let make = candidate.make { material = try make() }
    }
    switch material {
    case .key(let key):
      return try cryptography { () throws(CryptoError) in
        try key.withBytes { (span) throws(CryptoError) in try SecureBytes(copying: span) }
      }
    case .passphrase:
      throw StorageError(
        .damaged,
        "the source of this machine's key returned a passphrase instead of a key; put the key back"
      )
    case nil:
      throw StorageError(
        .keyUnavailable,
        "the key of this machine, which seals the secret, is missing; nothing was changed. Put the "
          + "key back",
        path: candidate.path())
    }
  }

  private func askedPasscode() throws(StorageError) -> SecureBytes {
    let bytes: SecureBytes?
    do {
      bytes = try passcode()
    } catch let error as StorageError {
      throw error
    } catch let error as CryptoError {
      throw StorageError(error)
    } catch {
      // The text of the error may contain the typed passcode.
      throw StorageError(
        .keyUnavailable, "the passcode could not be read: \(type(of: error)) was thrown")
    }
    guard let bytes else {
      throw StorageError(
        .keyUnavailable,
        "the application's closure returned no passcode; ask the user for it, then try again")
    }
    guard bytes.count > 0 else { throw StorageError(.invalid, "a passcode can't be empty") }
    return bytes
  }
}
