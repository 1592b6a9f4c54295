internal import StorageCore

extension VaultPlace {
  /// The failure if nothing selects the key that opens a vault.
  static func keyIsMissing(_ file: String) -> Failure {
    Failure(
      .usage,
      "say which key opens the vault: --key-file PATH, --passphrase, another key option, or --app "
        + "ID for the application's own key; a path alone does not select a key", path: file)
  }

  /// Throws the failure about a missing option; or, if the vault is damaged, the error that says
  /// so.
  func refuse(_ failure: Failure, opening file: String?) throws -> Never {
    if let file, try Path.isThere(file) { _ = try slots(of: file) }
    throw failure
  }

  /// Refuses a key whose kind and name are not in the vault's slots, before the key is asked for,
  /// and says which option to give instead.
  func require(_ choice: KeyChoice, opens file: String) throws {
    guard let (kind, name) = choice.recorded else { return }
    let slots = try knownSlots(of: file)
    guard !slots.isEmpty,
      !slots.contains(where: { $0.kind == kind && $0.identifier.isExactly(name) })
    else { return }
    let isMoved = kind == KeySlot.credentialKind && slots.contains { $0.kind == KeySlot.fileKind }
    let isRenamed = kind == KeySlot.fileKind && slots.contains { $0.kind == kind }
    let given =
      switch kind {
      // The operator may have typed the secret itself in the place of its name.
      case KeySlot.environmentKind: "that environment variable"
      case KeySlot.credentialKind: "that \(kind)"
      default: name.isEmpty ? "a \(kind)" : "\(kind) \(name)"
      }
    throw Self.opensOtherwise(
      slots, "not with \(given)",
      isRenamed
        ? "; a renamed key file must get its old name back"
        : isMoved
          ? "; to change to the credential, open the vault with one of those keys and run slots add "
            + "--new-credential; see MOVING TO A CREDENTIAL in securestore(1)" : "", file)
  }

  /// Refuses a vault that the application's own sources can't open, and says which option to give.
  func requireAutomatic(_ file: String) throws {
    let slots = try knownSlots(of: file)
    let isKnown = slots.contains {
      ($0.kind == KeySlot.fileKind && $0.identifier == Self.ownKeyFile)
        || ($0.kind == KeySlot.credentialKind && $0.identifier == "securestorage-key")
        || $0.kind == KeySlot.keyringKind
    }
    guard !slots.isEmpty, !isKnown else { return }
    let isFile = slots.contains { $0.kind == KeySlot.fileKind }
    throw Self.opensOtherwise(
      slots, "not with the application's own key",
      isFile ? "; for a key that a container mounts, give --mounted-secret PATH" : "", file)
  }

  private static func opensOtherwise(
    _ slots: [KeySlot], _ what: String, _ advice: String, _ file: String
  ) -> Failure {
    let options = slots.compactMap(\.option).withoutRepetition
    let titles = slots.map(\.title).withoutRepetition
    return Failure(
      .keyUnavailable,
      "the vault opens with \(titles.joined(separator: ", ")), \(what): give "
        + (options.isEmpty ? "a key option" : options.joined(separator: " or ")) + advice,
      path: file)
  }
}
