internal import ArgumentParser
internal import Glibc
internal import StorageCore
internal import VaultBackend

/// Creates a recovery key.
struct RecoveryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recovery", abstract: "Create a recovery key and show it once.",
    discussion: """
      Anyone who has the recovery key can open the vault. Write it down and keep it away from the \
      machine; it can't be shown again. slots remove revokes it.
      """)

  @OptionGroup(title: "Store") var store: StoreOptions
  @OptionGroup(title: "Key") var key: KeyOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run() throws {
    let place = try store.vaultPlace()
    let storage = try place.open(key)
    try storage.open()
    let recoveryKey = try RecoveryKey.random()
    let slot = try storage.keyAdministration.add(.recovery(recoveryKey))
    // With SIGPIPE ignored, a closed reader makes the write fail with an error like any other.
    signal(SIGPIPE, SIG_IGN)
    do {
      try show(recoveryKey, slot)
    } catch {
      takeBack(recoveryKey, slot, place, storage.keyAdministration)
      throw error
    }
  }

  /// Removes the slot of a key that could not be shown, since nobody knows that key.
  private func takeBack(
    _ recoveryKey: RecoveryKey, _ slot: KeySlot, _ place: VaultPlace,
    _ administration: KeyAdministration
  ) {
    do {
      // Found by its key: if somebody removed the slot, another slot may have its number now.
      if let slot = try place.slot(openedBy: .recovery(recoveryKey)) {
        try administration.remove(slot.id)
      }
      output.output.note("the key could not be shown; it was removed and opens nothing")
    } catch {
      let reason = (error as? StorageError).map { ": \($0.message)" } ?? ""
      output.output.warn(
        .unsound,
        "the key could not be shown, and its slot \(slot.id) could not be removed; check slots list, then "
          + "run slots remove\(reason)")
    }
  }

  private func show(_ recoveryKey: RecoveryKey, _ slot: KeySlot) throws {
    try recoveryKey.withText { text in
      if output.isJSON {
        return try output.output.json(["recoveryKey": text, "slot": slot])
      }
      output.output.note(
        "a recovery key, slot \(slot.id), shown only once; keep it away from this machine:")
      try output.output.line(text)
    }
  }
}
