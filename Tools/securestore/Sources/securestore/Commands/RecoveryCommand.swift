internal import ArgumentParser
internal import Glibc
internal import StorageCore
internal import VaultBackend

/// Makes a recovery key.
struct RecoveryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recovery", abstract: "Make a recovery key and show it, once.",
    discussion: """
      Whoever has it can open the vault. Write it down and keep it away from the machine; it can't \
      be shown again. slots remove takes it back.
      """)

  @OptionGroup(title: "Vault") var vault: VaultOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let place = try vault.place()
    let storage = try place.open(key)
    try storage.open()
    let recoveryKey = try RecoveryKey.random()
    let slot = try storage.keyAdministration.add(.recovery(recoveryKey))
    // A reader that is gone is an error of the write, as every other.
    signal(SIGPIPE, SIG_IGN)
    do {
      try show(recoveryKey, slot)
    } catch {
      takeBack(recoveryKey, slot, place, storage.keyAdministration)
      throw error
    }
  }

  /// Removes the slot of a key that nobody has seen, so that nobody may need.
  private func takeBack(
    _ recoveryKey: RecoveryKey, _ slot: KeySlot, _ place: VaultPlace,
    _ administration: KeyAdministration
  ) {
    do {
      // By its key, since the number of a slot that somebody has removed is given again.
      if let slot = try place.slot(openedBy: .recovery(recoveryKey)) {
        try administration.remove(slot.id)
      }
      output.output.note("the key could not be shown, and opens nothing")
    } catch {
      let reason = (error as? StorageError).map { ": \($0.message)" } ?? ""
      output.output.warn(
        .unsound,
        "the key could not be shown, and its slot \(slot.id) could not be removed; see slots list, and "
          + "remove it by slots remove\(reason)")
    }
  }

  private func show(_ recoveryKey: RecoveryKey, _ slot: KeySlot) throws {
    try recoveryKey.withText { text in
      if output.isJSON {
        return try output.output.json(
          .object([("recoveryKey", .string(text)), ("slot", slot.json)]))
      }
      output.output.note(
        "a recovery key, slot \(slot.id), shown this once; keep it away from this machine:")
      try output.output.line(text)
    }
  }
}
