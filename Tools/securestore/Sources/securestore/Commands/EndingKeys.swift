internal import StorageCore

/// The keys that a command is about to end, which nobody may lose by accident.
struct EndingKeys {
  private let place: VaultPlace
  /// What opens the vault now.
  private let before: [KeySlot]
  /// What opens it no more afterwards.
  private let ended: [KeySlot]
  /// What the vault opens with afterwards besides what stays; nil for nothing new.
  private let new: KeyChoice?

  /// - Parameters:
  ///   - place: the vault.
  ///   - before: what opens it now.
  ///   - new: the new key, if there is to be one.
  ///   - isEnded: whether a slot opens the vault no more afterwards.
  init(
    _ place: VaultPlace, _ before: [KeySlot], new: KeyChoice? = nil,
    where isEnded: (KeySlot) -> Bool
  ) {
    self.place = place
    self.before = before
    self.new = new
    ended = before.filter(isEnded)
  }

  /// Lets the command go on if the operator wants that: it has been said by `--yes`, or is asked for.
  ///
  /// - Throws: `Failure`: `usage` where nobody can be asked, `cancelled` where the answer is no, `busy`
  ///   where something else opens the vault by the time of the answer.
  func confirm(_ consent: ConsentOptions, _ output: Output) throws {
    guard !ended.isEmpty else { return }
    guard !consent.isConfirmed else {
      if let warning { output.warn(.unsound, warning) }
      return
    }
    let terminal: Terminal
    do {
      terminal = try Terminal(for: "a confirmation", instead: "--yes")
    } catch {
      throw Failure(
        .usage,
        "nothing was changed: this would end \(ended.map { $0.described(at: place) }.joined(separator: "; "))"
          + (warning.map { ". \($0)" } ?? "")
          + ". There is no terminal to ask on; --yes says that it is meant", path: place.path)
    }
    try terminal.show("What opens \(place.path) no more after this:")
    for slot in ended { try terminal.show("  " + slot.described(at: place)) }
    if let warning { try terminal.show(warning) }
    guard try terminal.confirm(ended.count == 1 ? "End this key?" : "End these keys?") else {
      throw Failure(.cancelled, "nothing was changed", path: place.path)
    }
    guard try place.slots() == before else {
      throw Failure(
        .busy,
        "what opens the vault was changed meanwhile, and nothing was done; see slots, and try again",
        path: place.path)
    }
  }

  /// What is left afterwards, where no program opens the vault with it by itself.
  private var warning: String? {
    let left = before.filter { !ended.contains($0) && $0.kind != KeySlot.recoveryKind }
    guard left.isEmpty else { return nil }
    switch new {
    case nil:
      return
        "Only a recovery key is left then: no program opens the vault by itself until slots add gives "
        + "it another key"
    case .passphrase, .passphraseDescriptor, .passphraseFile:
      return
        "Only a passphrase is left then: a program that nobody types it for does not open the vault"
    default: return nil
    }
  }
}

extension KeySlot {
  /// The slot, and whose key source it is, as far as that is known.
  func described(at place: VaultPlace) -> String {
    "slot \(id), \(title) (\(users(at: place)))"
  }

  private func users(at place: VaultPlace) -> String {
    switch kind {
    case Self.fileKind where identifier == VaultPlace.ownKeyFile:
      "the key file of programs with the key source .automatic or .file" + ownFile(of: place)
    case Self.fileKind: "the key file of programs that list .file with this name"
    case Self.credentialKind:
      "the credential of services that load it, as by LoadCredential="
    case Self.environmentKind: "of programs that are started with this variable"
    case Self.keyringKind: "the key of programs in a desktop session that list .keyring or .desktop"
    case Self.passphraseKind: "of whoever types the passphrase, or of a program that is given it"
    case Self.recoveryKind: "a key on paper, for when the others are lost"
    default: "a key that an application gives by its own code"
    }
  }

  /// The application's own key file, where it is known which that is.
  private func ownFile(of place: VaultPlace) -> String {
    guard let application = place.application else { return "" }
    do {
      guard let path = try place.keyFile(of: nil), try Path.isThere(path) else { return "" }
      return ", \(path) of \(application)"
    } catch {
      return ""  // a file that can't be looked for is not known
    }
  }
}
