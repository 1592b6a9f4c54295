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

    @OptionGroup(title: "Vault") var vault: VaultOptions
    @OptionGroup(title: "etcd") var etcd: EtcdOptions
    @OptionGroup(title: "Key, not used") var key: KeyOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws {
      if let place = try etcd.place(vault) { return try output.output.write(try place.slots()) }
      let place = try vault.place()
      try place.requireThere()
      try output.output.write(try place.slots())
    }
  }

  /// Adds a slot.
  struct AddSlot: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Add another key that opens the vault.")

    @OptionGroup(title: "Vault") var vault: VaultOptions
    @OptionGroup(title: "etcd") var etcd: EtcdOptions
    @OptionGroup(title: "Key") var key: KeyOptions
    @OptionGroup(title: "New key") var newKey: NewKeyOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws {
      if let place = try etcd.place(vault) {
        return try place.addSlot(key, newKey.choice(), output.output)
      }
      let place = try vault.place()
      let storage = try place.open(key)
      try storage.open()
      let use = try newKey.use(for: place, output.output) {
        try storage.keyAdministration.add($0)
      }
      let slot = use.result
      try output.output.done(
        "added slot \(slot.id), \(slot.title)", .object(slot.members + use.file.members([slot])))
      use.file.note([slot], output.output)
      output.output.note(ofPassphrasesIn: [slot])
    }
  }

  /// Replaces all slots except recovery keys.
  struct ChangeSlots: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "change", abstract: "Make another key open the vault, and remove the old keys.",
      discussion: """
        Recovery keys stay. The values are not sealed again; rotate --root does that. The command lists \
        the keys that end and asks first, unless --yes is given.
        """)

    @OptionGroup(title: "Vault") var vault: VaultOptions
    @OptionGroup(title: "etcd") var etcd: EtcdOptions
    @OptionGroup(title: "Key") var key: KeyOptions
    @OptionGroup(title: "New key") var newKey: NewKeyOptions
    @OptionGroup var consent: ConsentOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws {
      guard try etcd.place(vault) == nil else {
        throw Failure(
          .usage,
          "machines share the store: add the new key, then remove the old one with slots remove")
      }
      let place = try vault.place()
      let storage = try place.open(key)
      try storage.open()
      let before = try storage.keyAdministration.slots()
      let new = try newKey.choice()
      let confirm = { (old: KeySlot?) in
        try EndingKeys(place, before, new: new) { $0.kind != KeySlot.recoveryKind && $0 != old }
          .confirm(consent, output.output)
      }
      let use = try newKey.use(for: place, confirm: confirm, output.output) {
        try storage.keyAdministration.change(to: $0)
      }
      let slots = try storage.keyAdministration.slots()
      let ended = before.ended(in: slots, keeping: use.old)
      try output.output.done(
        "\(place.path) opens with \(slots.map(\.title).joined(separator: ", ")) from now on",
        .object(
          [("slots", .array(slots.map(\.json))), ("ended", .array(ended.map(\.json)))]
            + use.file.members(slots)))
      use.file.note(slots, output.output)
      output.output.note(ofEnded: ended)
      output.output.note(ofPassphrasesIn: slots)
    }
  }

  /// Removes a slot.
  struct RemoveSlot: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Remove a key, so that it no longer opens the vault.",
      discussion: """
        The command says which program's key it is, if known, and asks first, unless --yes is given.
        """)

    @Argument(help: "The number of the slot, as slots list shows it.") var id: UInt32

    @OptionGroup(title: "Vault") var vault: VaultOptions
    @OptionGroup(title: "etcd") var etcd: EtcdOptions
    @OptionGroup(title: "Key") var key: KeyOptions
    @OptionGroup var consent: ConsentOptions
    @OptionGroup var acknowledgement: AcknowledgementOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func run() throws {
      if let place = try etcd.place(vault) {
        return try place.removeSlot(id, acknowledgement, key, output.output)
      }
      guard !acknowledgement.isMissing else {
        throw Failure(.usage, "--unacknowledged is for a store in etcd, whose machines acknowledge")
      }
      let place = try vault.place()
      let storage = try place.open(key)
      try storage.open()
      let before = try storage.keyAdministration.slots()
      // `remove` below refuses the last slot and a slot that does not exist.
      if before.count > 1 {
        try EndingKeys(place, before) { $0.id == id }.confirm(consent, output.output)
      }
      try storage.keyAdministration.remove(id)
      try output.output.done(
        "removed slot \(id)", .object([("removed", .number("\(id)"))]))
    }
  }
}

extension Output {
  /// Writes the slots as the answer.
  fileprivate func write(_ slots: [KeySlot]) throws {
    if isJSON { return try json(.object([("slots", .array(slots.map(\.json)))])) }
    for row in Printable.table(slots.map { ["\($0.id)", Printable.line($0.title)] }) {
      try line(row)
    }
    for slot in slots {
      if let weakness = slot.weakness { note("slot \(slot.id): \(weakness); replace it") }
    }
  }
}
