internal import StorageCore

/// The keys that a command is about to end, with the warning and the question for the operator.
struct EndingKeys {
  private let place: VaultPlace
  /// The slots that open the vault now.
  private let before: [KeySlot]
  /// The slots that will no longer open the vault.
  private let ended: [KeySlot]
  /// The new key that will open the vault; nil if there is no new key.
  private let new: KeyChoice?

  /// - Parameters:
  ///   - place: the vault.
  ///   - before: the slots that open the vault now.
  ///   - new: the new key, if there is one.
  ///   - isEnded: whether a slot will no longer open the vault.
  init(
    _ place: VaultPlace, _ before: [KeySlot], new: KeyChoice? = nil,
    where isEnded: (KeySlot) -> Bool
  ) {
    self.place = place
    self.before = before
    self.new = new
    ended = before.filter(isEnded)
  }

  /// Returns if the operator agrees: by `--yes`, or by answering the question with yes.
  ///
  /// - Throws: `Failure`: `usage` if there is no terminal to ask on, `cancelled` if the answer is
  ///   no, `busy` if the slots changed before the answer.
  func confirm(_ consent: ConsentOptions, _ output: Output) throws {
    guard !ended.isEmpty else { return }
    guard !consent.isConfirmed else {
      if let warning { output.warn(.unsound, warning) }
      return
    }
    let slots = ended.map { $0.described(at: place) }
    try Terminal.requireConsent(
      ended.count == 1 ? "Remove this key?" : "Remove these keys?", place.path,
      showing: ["These keys will no longer open \(place.path):"] + slots.map { "  " + $0 }
        + [warning].compactMap(\.self),
      otherwise: "this would remove \(ended.count == 1 ? "this key" : "these keys"): "
        + slots.joined(separator: "; ") + (warning.map { ". \($0)" } ?? ""))
    guard try place.slots() == before else {
      throw Failure(
        .busy,
        "the vault's keys changed meanwhile, and nothing was done; see slots, and try again",
        path: place.path)
    }
  }

  /// The warning for the case that no program can open the vault by itself afterwards.
  private var warning: String? {
    let left = before.filter { !ended.contains($0) && $0.kind != KeySlot.recoveryKind }
    guard left.isEmpty else { return nil }
    switch new {
    case nil:
      return
        "Only a recovery key will be left: no program can open the vault by itself until slots add "
        + "gives it another key"
    case .passphrase, .passphraseDescriptor, .passphraseFile, .passphraseCommand:
      return
        "Only a passphrase will be left: a program can't open the vault unless somebody types it"
    default: return nil
    }
  }
}

extension KeySlot {
  /// The slot, and the program whose key source it is, as far as that is known.
  func described(at place: VaultPlace) -> String {
    "slot \(id), \(title) (\(users(at: place)))"
  }

  private func users(at place: VaultPlace) -> String {
    switch kind {
    case Self.fileKind where identifier == VaultPlace.ownKeyFile:
      "the key file of programs with the key source .automatic or .file" + ownFile(of: place)
    case Self.fileKind: "the key file of programs that list .file with this name"
    case Self.credentialKind:
      "the credential of services that load it, for example with LoadCredential="
    case Self.environmentKind: "the key of programs that are started with this variable"
    case Self.keyringKind: "the key of programs in a desktop session that list .keyring or .desktop"
    case Self.commandKind: "the key of programs that list .command with this name"
    case Self.passphraseKind: "the key of people who type it, or of programs that are given it"
    case Self.recoveryKind: "a key on paper, for use when the others are lost"
    default: "a key that an application supplies in its own code"
    }
  }

  /// The application's own key file, if it is known.
  private func ownFile(of place: VaultPlace) -> String {
    guard let application = place.application else { return "" }
    do {
      guard let path = try place.keyFile(of: nil), try Path.isThere(path) else { return "" }
      return ", \(path) of \(application)"
    } catch {
      return ""  // without access to the file, the text omits it
    }
  }
}
