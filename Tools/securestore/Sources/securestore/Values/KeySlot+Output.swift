internal import StorageCore

extension KeySlot: JSONConvertible {
  static let fileKind = "file"
  static let passphraseKind = "passphrase"
  static let environmentKind = "environment"
  static let credentialKind = "systemd credential"
  static let recoveryKind = "recovery key"
  static let keyringKind = "keyring"
  static let commandKind = "command"

  /// The option that gives such a key; nil for a key that only the application can give.
  var option: String? {
    switch kind {
    case Self.fileKind: "--key-file PATH/\(word)"
    case Self.passphraseKind: "--passphrase"
    case Self.environmentKind: "--key-env \(word)"
    case Self.credentialKind: "--credential \(word)"
    case Self.recoveryKind: "--recovery"
    case Self.commandKind:
      "--key-command COMMAND" + (identifier.isEmpty ? "" : " --key-command-name \(word)")
    case Self.keyringKind: "--key keyring:\(word)"
    default: nil
    }
  }

  /// The identifier if it is a plain word, else NAME: anyone may have written the identifier, and
  /// users paste it into a shell.
  private var word: String {
    let isPlain = identifier.utf8.allSatisfy {
      switch $0 {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "._@%+:-".utf8.contains($0)
      }
    }
    return isPlain && !identifier.isEmpty && !identifier.hasPrefix("-") ? identifier : "NAME"
  }

  /// The kind and the identifier.
  var title: String { identifier.isEmpty ? kind : "\(kind) \(identifier)" }

  var json: JSONValue {
    [
      "id": id, "kind": kind, "identifier": identifier, "passphrase": isPassphrase,
      "weakness": weakness,
    ]
  }
}

extension [KeySlot] {
  /// The slots that no longer open the vault, if `slots` open it afterwards.
  ///
  /// - Parameters:
  ///   - slots: the slots afterwards.
  ///   - kept: the old slot whose key has a new slot now.
  /// - Returns: the old slots that are neither.
  func ended(in slots: [KeySlot], keeping kept: KeySlot? = nil) -> [KeySlot] {
    filter { $0 != kept && !slots.contains($0) }
  }
}

extension Output {
  /// Notes the keys that no longer open the vault.
  func note(ofEnded slots: [KeySlot]) {
    guard !slots.isEmpty else { return }
    let titles = slots.map { "slot \($0.id), \($0.title)" }.joined(separator: "; ")
    let isRecovery = slots.contains { $0.kind == KeySlot.recoveryKind }
    note(
      "no longer opens the vault: \(titles)"
        + (isRecovery ? ". Run recovery to create another recovery key" : ""))
  }

  /// Notes the key places whose content is not a key, and is therefore used as a passphrase.
  func note(ofPassphrasesIn slots: [KeySlot]) {
    for slot in slots where slot.isPassphrase && slot.kind != KeySlot.passphraseKind {
      let content =
        slot.kind == KeySlot.commandKind
        ? "what \(slot.title) prints" : "the content of \(slot.title)"
      note(
        "\(content) is used as a passphrase, since it is not Base64 of 32 bytes; "
          + "anyone who guesses it can open the vault")
    }
  }
}
