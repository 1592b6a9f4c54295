internal import Foundation
internal import RemoteBackend
internal import StorageCore
internal import VaultBackend

// What the commands about a whole store do with one that machines share.
extension SharedStore {
  func values(_ key: KeyOptions, _: StoreAccess) throws -> DelegatedStorage { try open(key) }

  /// Makes the store, which must not exist.
  func initialize(_ command: InitCommand) throws { try make(command) }

  /// Makes the store, which must not exist, where its engine has a place for it.
  func make(_ command: InitCommand) throws {
    let (key, output) = (command.key, command.output.output)
    let keyFile = try key.choice().flatMap { try place.keyFile(of: $0) }
    let file = try NewKeyFile(at: keyFile, for: place)
    let storage = storage(try keySource(key, isNew: true, output))
    try file.making(output) { try storage.create() }
    let slots = try storage.keyAdministration.slots()
    try output.done(
      "created \(path), which opens with \(slots.map(\.title).joined(separator: ", "))",
      (["path": path, "slots": slots] as JSONValue).with(file.json(slots)))
    file.note(slots, output)
    output.note(ofPassphrasesIn: slots)
  }

  /// Adds a slot.
  func addSlot(_ command: SlotsCommand.AddSlot) throws {
    let output = command.output.output
    guard let choice = try command.newKey.choice() else {
      throw Failure(.usage, "name the new key: --new-key-file PATH, or another --new- option")
    }
    let storage = try open(command.key)
    let source = try choice.source(
      for: place, opening: nil, option: "--new-passphrase", warning: output)
    let slot = try storage.keyAdministration.add(source)
    try output.done("added slot \(slot.id), \(slot.title)", slot.json)
    output.note(ofPassphrasesIn: [slot])
  }

  func changeSlots(_ command: SlotsCommand.ChangeSlots) throws {
    throw Failure(
      .usage,
      "machines share the store: add the new key, then remove the old one with slots remove")
  }

  /// Removes a slot, unless a machine that has said what it opens would be locked out.
  func removeSlot(_ command: SlotsCommand.RemoveSlot) throws {
    try open(command.key).removeSlot(
      command.id, unacknowledged: command.acknowledgement.isMissing)
    try command.output.output.done("removed slot \(command.id)", ["removed": command.id])
  }

  /// Makes one slot the only one besides recovery keys, if all machines open it.
  func promote(_ command: SlotsCommand.PromoteSlot) throws {
    let storage = try open(command.key)
    let before = try storage.keyAdministration.slots()
    try storage.promote(command.id, unacknowledged: command.acknowledgement.isMissing)
    let slots = try storage.keyAdministration.slots()
    let ended = before.filter { old in !slots.contains { $0.id == old.id } }
    try command.output.output.done(
      "\(path) opens with \(slots.map(\.title).joined(separator: ", ")) from now on",
      ["slots": slots, "ended": ended])
    command.output.output.note(ofEnded: ended)
  }

  /// Says in the store which slots the key options open.
  func acknowledge(_ command: SlotsCommand.AcknowledgeSlots) throws {
    let machine = try open(command.key).acknowledge(as: command.machine)
    let slots = machine.slots.sorted()
    try command.output.output.done(
      "\(Printable.line(machine.name)) opens \(slots.count == 1 ? "slot" : "slots") "
        + slots.map { "\($0)" }.joined(separator: ", "),
      ["machine": machine.name, "slots": slots])
  }

  /// Forgets what a machine has said.
  func forget(_ command: SlotsCommand.ForgetMachine) throws {
    let (storage, name) = (try open(command.key), command.machine)
    guard try storage.machines().contains(where: { $0.name.isExactly(name) }) else {
      throw Failure(.noInput, "no machine of this name has said what it opens", path: path)
    }
    try storage.forget(name)
    try command.output.output.done("forgot \(Printable.line(name))", ["forgotten": name])
  }

  /// Opens every value.
  func verify(_ command: VerifyCommand) throws -> Verification {
    let listing = try open(command.key).listing()
    let known = Set(listing.keys.map { Array($0.utf8) })
    let absent = command.expected.filter { !known.contains(Array($0.utf8)) }
    let count = Printable.count(listing.own.count, "value")
    return Verification(
      rows: Verification.rows(absent: absent),
      json: [
        "sound": listing.unreadable == 0 && absent.isEmpty, "values": listing.own.count,
        "notOpened": listing.unreadable, "absent": absent,
      ],
      fault: listing.unreadable == 0 && absent.isEmpty
        ? nil
        : "\(Printable.count(listing.unreadable, "value")) can't be opened, and "
          + "\(Printable.count(absent.count, "expected value")) absent",
      notes: [
        "\(count), all of them open",
        "\(engine) keeps no account of its values: one that somebody removed is not missed",
      ])
  }

  /// Seals all values again; with `--root`, under new keys that the given key alone opens.
  func rotate(_ command: RotateCommand) throws {
    guard try command.newKey.choice() == nil, command.keepsKey == command.replacesRoot,
      !command.replacesNames, !command.keepsOldKeys
    else {
      throw Failure(
        .usage,
        "machines share the store: bring the new key to each (slots add, slots acknowledge), then give it with "
          + "rotate --root --same-key and no other option")
    }
    let output = command.output.output
    let storage = try open(command.key)
    let before = try storage.keyAdministration.slots()
    let own = command.replacesRoot ? try storage.keyAdministration.ownSlot() : nil
    if let own { try confirm(before.filter { $0 != own }, command.consent) }
    let report = try Progress.showing("rotate", output) { progress in
      guard let own else {
        return try storage.keyAdministration.rotateOrResume(command, progress)
      }
      return try storage.rotate(to: own.id, openedBy: keySource(command.key, isNew: false))
    }
    let ended = own.map { own in before.filter { $0 != own } } ?? []
    try output.done(
      "sealed \(Printable.count(report.reencrypted, "record")) again",
      report.json.with(["ended": ended]))
    output.note(ofEnded: ended)
    if own != nil {
      output.note(
        "let each machine acknowledge its key again: slots acknowledge, or the program's start")
    }
    let left = report.left(
      underOldKeyThatOpensWith: "the store's key",
      takenBackBy: command.readmits ? nil : "rotate --resume --readmit")
    guard left.isEmpty else { throw Failure(.unsound, left.joined(separator: "; ")) }
  }

  private func confirm(_ ending: [KeySlot], _ consent: ConsentOptions) throws {
    guard !ending.isEmpty, !consent.isConfirmed else { return }
    let slots = ending.map { $0.described(at: place) }
    try Terminal.requireConsent(
      "Remove these keys?", path,
      showing: ["These keys will no longer open \(path):"] + slots.map { "  " + $0 },
      otherwise: "this would remove these keys: " + slots.joined(separator: "; "))
  }

  /// Copies all values into a new vault, which opens with the same key.
  func backup(_ command: BackupCommand) throws {
    let path = try command.free()
    let vault = try vault(path, command.key)
    let storage = try open(command.key)
    try vault.open()
    try move(storage, to: vault, "copied to \(path)", "backup", command.output.output)
  }

  /// Puts all values of a vault into the store; later values with other names stay.
  func restore(_ command: RestoreCommand) throws {
    let backup = try command.backup()
    let storage = try open(command.key)
    if !command.isConfirmed {
      try Terminal.requireConsent("Replace values in \(path) with those of \(backup)?", path)
    }
    try move(
      try vault(backup, command.key, .readOnly), to: storage, "restored \(path) from \(backup)",
      "restore", command.output.output, overwriting: true)
  }

  /// Says who may discard the store.
  func reset(_: ResetCommand) throws { try storage(.firstAvailable([])).discard() }

  /// Moves all values into a vault, which exists or opens with the same key, or out of one.
  func migrate(_ command: MigrateCommand) throws {
    let output = command.output.output
    guard let file = command.toVault else {
      let old = try command.vaultForSharedStore(place)
      return try move(
        old, to: try open(command.key), "moved to \(path)", "migrate", output,
        overwriting: command.overwrites, removing: !command.keeps)
    }
    let path = try Path.absolute(file)
    try VaultPlace.requireNoIndex(path)
    try Path.requireFolder(of: path, "nothing was copied")
    let vault = try vault(path, command.key, source: command.newSource(path, for: place))
    let storage = try open(command.key)
    try vault.open()
    try move(
      storage, to: vault, "moved to \(path)", "migrate", output,
      overwriting: command.overwrites, removing: !command.keeps)
  }

  /// A vault that opens with `source`, or else with the key of the store.
  private func vault(
    _ path: String, _ key: KeyOptions, _ access: StoreAccess = .readWrite, source: KeySource? = nil
  ) throws -> VaultStorage {
    VaultStorage(
      at: URL(fileURLWithPath: path), keySource: try source ?? keySource(key, isNew: false),
      access: access, deadline: place.deadline)
  }

  private func move(
    _ source: some Storage, to target: some Storage, _ what: String, _ title: String,
    _ output: Output, overwriting: Bool = false, removing: Bool = false
  ) throws {
    let report = try Progress.showing(title, output) { progress in
      try SecureStorage.migrate(
        from: source, to: target, onConflict: overwriting ? .replace : .keepBoth,
        removingFromSource: removing, progress: progress)
    }
    try output.done(
      "\(what): \(report.copied) copied, \(report.alreadyThere) already there",
      [
        "copied": report.copied, "alreadyThere": report.alreadyThere,
        "conflicts": report.conflicts, "unreadable": report.unreadable,
      ])
    try report.requireAll()
  }
}
