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
    case Self.fileKind: "--key-file PATH/\(word)"
    case Self.passphraseKind: "--passphrase"
    case Self.environmentKind: "--key-env \(word)"
    case Self.credentialKind: "--credential \(word)"
    case Self.recoveryKind: "--recovery"
    case Self.keyringKind: "--key keyring:\(word)"
    default: nil
    }
  }

  /// The identifier where it is a plain word: anybody can have written it, and it may be pasted into a
  /// shell.
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

  /// The kind and what tells the source from others of its kind.
  var title: String { identifier.isEmpty ? kind : "\(kind) \(identifier)" }

  var json: JSONValue { .object(members) }

  /// The slot for programs.
  var members: [(String, JSONValue)] {
    [
      ("id", .number("\(id)")), ("kind", .string(kind)), ("identifier", .string(identifier)),
      ("passphrase", .bool(isPassphrase)),
      ("weakness", weakness.map { .string($0) } ?? .null),
    ]
  }
}

extension [KeySlot] {
  /// Those that open the vault no more, where `slots` are what opens it afterwards.
  ///
  /// - Parameters:
  ///   - slots: those of afterwards.
  ///   - kept: the slot whose key has another slot now.
  /// - Returns: those of before that are neither.
  func ended(in slots: [KeySlot], keeping kept: KeySlot? = nil) -> [KeySlot] {
    filter { $0 != kept && !slots.contains($0) }
  }
}

extension Output {
  /// Tells what opens the vault no more.
  func note(ofEnded slots: [KeySlot]) {
    guard !slots.isEmpty else { return }
    let titles = slots.map { "slot \($0.id), \($0.title)" }.joined(separator: "; ")
    let isRecovery = slots.contains { $0.kind == KeySlot.recoveryKind }
    note(
      "opens the vault no more: \(titles)"
        + (isRecovery ? ". The command recovery makes another recovery key" : ""))
  }

  /// Tells of places for keys whose content is none, and is therefore a passphrase.
  func note(ofPassphrasesIn slots: [KeySlot]) {
    for slot in slots where slot.isPassphrase && slot.kind != KeySlot.passphraseKind {
      note(
        "what \(slot.title) holds is taken as a passphrase, since it is not Base64 of 32 bytes; "
          + "anybody who guesses it can open the vault")
    }
  }
}
