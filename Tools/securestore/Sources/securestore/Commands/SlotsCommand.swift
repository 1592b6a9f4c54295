internal import ArgumentParser
internal import StorageCore
internal import VaultBackend

/// Shows and changes the keys that open the vault.
struct SlotsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "slots", abstract: "Show or change the keys that open the vault.",
    subcommands: [
      ListSlots.self, AddSlot.self, ChangeSlots.self, RemoveSlot.self, AcknowledgeSlots.self,
      PromoteSlot.self, ForgetMachine.self,
    ],
    defaultSubcommand: ListSlots.self)

  /// Lists the slots, which anyone who can read the file can see.
  struct ListSlots: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List the keys that open the vault; needs no key.",
      discussion: "A key option is accepted, as by every command, but not used.")

    @OptionGroup(title: "Store") var store: StoreOptions
    @OptionGroup(title: "Key, not used") var key: KeyOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws {
      let slots = try store.place().slots()
      if output.isJSON { return try output.output.json(["slots": slots]) }
      for row in Printable.table(slots.map { ["\($0.id)", Printable.line($0.title)] }) {
        try output.output.line(row)
      }
      for slot in slots {
        guard let weakness = slot.weakness else { continue }
        output.output.note("slot \(slot.id): \(weakness); replace it")
      }
    }
  }

  /// Adds a slot.
  struct AddSlot: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Add another key that opens the vault.")

    @OptionGroup(title: "Store") var store: StoreOptions
    @OptionGroup(title: "Key") var key: KeyOptions
    @OptionGroup(title: "New key") var newKey: NewKeyOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws { try store.place().keys.addSlot(self) }
  }

  /// Replaces all slots except recovery keys.
  struct ChangeSlots: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "change", abstract: "Make another key open the vault, and remove the old keys.",
      discussion: """
        Recovery keys stay. The values are not sealed again; rotate --root does that. The command lists \
        the keys that end and asks first, unless --yes is given.
        """)

    @OptionGroup(title: "Store") var store: StoreOptions
    @OptionGroup(title: "Key") var key: KeyOptions
    @OptionGroup(title: "New key") var newKey: NewKeyOptions
    @OptionGroup var consent: ConsentOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws { try store.place().keys.changeSlots(self) }
  }

  /// Removes a slot.
  struct RemoveSlot: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Remove a key, so that it no longer opens the vault.",
      discussion: """
        The command says which program's key it is, if known, and asks first, unless --yes is given.
        """)

    @Argument(help: "The number of the slot, as slots list shows it.") var id: UInt32

    @OptionGroup(title: "Store") var store: StoreOptions
    @OptionGroup(title: "Key") var key: KeyOptions
    @OptionGroup var consent: ConsentOptions
    @OptionGroup var acknowledgement: AcknowledgementOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws { try store.place().keys.removeSlot(self) }
  }
}

extension VaultPlace {
  func addSlot(_ command: SlotsCommand.AddSlot) throws {
    let output = command.output.output
    let storage = try open(command.key)
    try storage.open()
    let use = try command.newKey.use(for: self, output) { try storage.keyAdministration.add($0) }
    let slot = use.result
    try output.done("added slot \(slot.id), \(slot.title)", slot.json.with(use.file.json([slot])))
    use.file.note([slot], output)
    output.note(ofPassphrasesIn: [slot])
  }

  func changeSlots(_ command: SlotsCommand.ChangeSlots) throws {
    let output = command.output.output
    let storage = try open(command.key)
    try storage.open()
    let before = try storage.keyAdministration.slots()
    let new = try command.newKey.choice()
    let confirm = { (old: KeySlot?) in
      try EndingKeys(self, before, new: new) { $0.kind != KeySlot.recoveryKind && $0 != old }
        .confirm(command.consent, output)
    }
    let use = try command.newKey.use(for: self, confirm: confirm, output) {
      try storage.keyAdministration.change(to: $0)
    }
    let slots = try storage.keyAdministration.slots()
    let ended = before.ended(in: slots, keeping: use.old)
    try output.done(
      "\(path) opens with \(slots.map(\.title).joined(separator: ", ")) from now on",
      (["slots": slots, "ended": ended] as JSONValue).with(use.file.json(slots)))
    use.file.note(slots, output)
    output.note(ofEnded: ended)
    output.note(ofPassphrasesIn: slots)
  }

  func removeSlot(_ command: SlotsCommand.RemoveSlot) throws {
    guard !command.acknowledgement.isMissing else {
      throw Failure(.usage, "--unacknowledged is for a store that machines share")
    }
    let storage = try open(command.key)
    try storage.open()
    let before = try storage.keyAdministration.slots()
    // `remove` below refuses the last slot and a slot that does not exist.
    if before.count > 1 {
      try EndingKeys(self, before) { $0.id == command.id }
        .confirm(command.consent, command.output.output)
    }
    try storage.keyAdministration.remove(command.id)
    try command.output.output.done("removed slot \(command.id)", ["removed": command.id])
  }
}
