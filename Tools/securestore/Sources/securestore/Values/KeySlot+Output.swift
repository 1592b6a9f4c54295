internal import StorageCore

extension KeySlot {
  static let fileKind = "file"
  static let passphraseKind = "passphrase"
  static let environmentKind = "environment"
  static let credentialKind = "systemd credential"
  static let recoveryKind = "recovery key"
  static let keyringKind = "keyring"

  /// The option that gives such a key; nil for one that only the application can give.
  var option: String? {
    switch kind {
    case Self.fileKind: "--key-file PATH/\(identifier)"
    case Self.passphraseKind: "--passphrase"
    case Self.environmentKind: "--key-env \(identifier)"
    case Self.credentialKind: "--credential \(identifier)"
    case Self.recoveryKind: "--recovery"
    case Self.keyringKind: "--key keyring:\(identifier)"
    default: nil
    }
  }

  /// The kind and what tells the source from others of its kind.
  var title: String { identifier.isEmpty ? kind : "\(kind) \(identifier)" }

  var json: JSONValue {
    .object([
      ("id", .number("\(id)")), ("kind", .string(kind)), ("identifier", .string(identifier)),
      ("passphrase", .bool(isPassphrase)),
    ])
  }
}

extension Output {
  /// Tells of places for keys whose content is none, and is therefore a passphrase.
  func note(ofPassphrasesIn slots: [KeySlot]) {
    for slot in slots where slot.isPassphrase && slot.kind != KeySlot.passphraseKind {
      note(
        "what \(slot.title) holds is taken as a passphrase, since it is not Base64 of 32 bytes; "
          + "anybody who guesses it can open the vault")
    }
  }
}
