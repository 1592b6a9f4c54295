internal import Foundation
internal import StorageCore
internal import VaultBackend

#if Etcd
  internal import EtcdBackend

  // What the commands about a whole store do with one in etcd.
  extension EtcdPlace {
    /// Makes the store, which must not exist.
    func initialize(_ key: KeyOptions, _ output: Output) throws {
      let keyFile = try key.choice().flatMap { try place.keyFile(of: $0) }
      let file = try NewKeyFile(at: keyFile, for: place)
      let storage = storage(try keySource(key, isNew: true, output))
      try file.making(output) { try storage.create() }
      let slots = try storage.keyAdministration.slots()
      try output.done(
        "created \(path), which opens with \(slots.map(\.title).joined(separator: ", "))",
        .object(
          [("path", .string(path)), ("slots", .array(slots.map(\.json)))] + file.members(slots)))
      file.note(slots, output)
      output.note(ofPassphrasesIn: slots)
    }

    /// Adds a slot.
    func addSlot(_ key: KeyOptions, _ choice: KeyChoice?, _ output: Output) throws {
      guard let choice else {
        throw Failure(.usage, "name the new key: --new-key-file PATH, or another --new- option")
      }
      let storage = try open(key)
      let source = try choice.source(
        for: place, opening: nil, option: "--new-passphrase", warning: output)
      let slot = try storage.keyAdministration.add(source)
      try output.done("added slot \(slot.id), \(slot.title)", .object(slot.members))
      output.note(ofPassphrasesIn: [slot])
    }

    /// Removes a slot, unless a machine that has said what it opens would be locked out.
    func removeSlot(
      _ id: UInt32, _ acknowledgement: AcknowledgementOptions, _ key: KeyOptions, _ output: Output
    ) throws {
      try open(key).removeSlot(id, unacknowledged: acknowledgement.isMissing)
      try output.done("removed slot \(id)", .object([("removed", .number("\(id)"))]))
    }

    /// Makes one slot the only one besides recovery keys, if all machines open it.
    func promoteSlot(
      _ id: UInt32, _ acknowledgement: AcknowledgementOptions, _ key: KeyOptions, _ output: Output
    ) throws {
      let storage = try open(key)
      let before = try storage.keyAdministration.slots()
      try storage.promote(id, unacknowledged: acknowledgement.isMissing)
      let slots = try storage.keyAdministration.slots()
      let ended = before.filter { old in !slots.contains { $0.id == old.id } }
      try output.done(
        "\(path) opens with \(slots.map(\.title).joined(separator: ", ")) from now on",
        .object([("slots", .array(slots.map(\.json))), ("ended", .array(ended.map(\.json)))]))
      output.note(ofEnded: ended)
    }

    /// Says in the store which slots the key options open.
    func acknowledge(as machine: String?, _ key: KeyOptions, _ output: Output) throws {
      let machine = try open(key).acknowledge(as: machine)
      let slots = machine.slots.sorted()
      try output.done(
        "\(Printable.line(machine.name)) opens \(slots.count == 1 ? "slot" : "slots") "
          + slots.map { "\($0)" }.joined(separator: ", "),
        .object([
          ("machine", .string(machine.name)), ("slots", .array(slots.map { .number("\($0)") })),
        ]))
    }

    /// Forgets what a machine has said.
    func forget(_ machine: String, _ key: KeyOptions, _ output: Output) throws {
      let storage = try open(key)
      guard try storage.machines().contains(where: { Array($0.name.utf8) == Array(machine.utf8) })
      else { throw Failure(.noInput, "no machine of this name has said what it opens", path: path) }
      try storage.forget(machine)
      try output.done(
        "forgot \(Printable.line(machine))", .object([("forgotten", .string(machine))]))
    }

    /// Opens every value.
    func verify(expecting names: [String], _ key: KeyOptions, _ output: Output) throws {
      let storage = try open(key)
      let listing = try storage.listing()
      let known = Set(listing.keys.map { Array($0.utf8) })
      let missing = names.filter { !known.contains(Array($0.utf8)) }
      for name in missing { try output.line("absent: \(Printable.line(name))") }
      guard listing.unreadable == 0, missing.isEmpty else {
        throw Failure(
          .unsound,
          "\(Printable.count(listing.unreadable, "value")) can't be opened, and "
            + "\(Printable.count(missing.count, "expected value")) absent", path: path)
      }
      try output.done(
        "\(Printable.count(listing.own.count, "value")), all of them open",
        .object([("values", .number("\(listing.own.count)"))]))
      output.note("etcd keeps no account of its values: one that somebody removed is not missed")
    }

    /// Seals all values again.
    func rotate(
      resuming: Bool, readmitting: Bool, _ key: KeyOptions, _ output: Output
    ) throws {
      let administration = try open(key).keyAdministration
      let report = try Progress.showing("rotate", output) { progress in
        try resuming
          ? administration.reencrypt(readmitting: readmitting, progress: progress)
          : administration.rotateDataKey(progress: progress)
      }
      try output.done(
        "sealed \(Printable.count(report.reencrypted, "record")) again",
        .object([
          ("reencrypted", .number("\(report.reencrypted)")),
          ("remaining", .number("\(report.remaining)")),
          ("setAside", .number("\(report.setAside)")),
          ("setAsideNames", .array(report.setAsideKeys.map { .string($0) })),
        ]))
      let left = report.left(
        underOldKeyThatOpensWith: "the store's key",
        takenBackBy: readmitting ? nil : "rotate --resume --readmit")
      guard left.isEmpty else { throw Failure(.unsound, left.joined(separator: "; ")) }
    }

    /// Copies all values into a new vault, which opens with the same key.
    func backup(to file: String, _ key: KeyOptions, _ output: Output) throws {
      let path = try Path.absolute(file)
      if let occupation = Path.occupation(of: path) { throw occupation }
      try Path.requireFolder(of: path, "nothing was copied")
      let vault = VaultStorage(
        at: URL(fileURLWithPath: path), keySource: try keySource(key, isNew: false),
        deadline: place.deadline)
      let storage = try open(key)
      try vault.open()
      let report = try Progress.showing("backup", output) { progress in
        try SecureStorage.migrate(
          from: storage, to: vault, removingFromSource: false, progress: progress)
      }
      try answer(report, "copied to \(path)", output)
    }

    /// Puts all values of a vault into the store; later values with other names stay.
    func restore(from file: String, isConfirmed: Bool, _ key: KeyOptions, _ output: Output) throws {
      let backup = try Path.absolute(file)
      guard try Path.isThere(backup) else {
        throw Failure(.noInput, "the backup does not exist", path: backup)
      }
      let storage = try open(key)
      if !isConfirmed {
        let terminal = try Terminal(for: "a confirmation", instead: "--yes")
        guard try terminal.confirm("Replace values in \(path) with those of \(backup)?") else {
          throw Failure(.cancelled, "nothing was changed", path: path)
        }
      }
      let vault = VaultStorage(
        at: URL(fileURLWithPath: backup), keySource: try keySource(key, isNew: false),
        access: .readOnly, deadline: place.deadline)
      let report = try Progress.showing("restore", output) { progress in
        try SecureStorage.migrate(
          from: vault, to: storage, onConflict: .replace, removingFromSource: false,
          progress: progress)
      }
      try answer(report, "restored \(path) from \(backup)", output)
    }

    /// Moves all values into a vault, which exists or opens with the same key.
    func migrate(
      toVault file: String, _ vaultKeyFile: String?, keeping: Bool, overwriting: Bool,
      _ key: KeyOptions, _ output: Output
    ) throws {
      let path = try Path.absolute(file)
      try Path.requireFolder(of: path, "nothing was copied")
      let own = try vaultKeyFile.map { KeySource.file(URL(fileURLWithPath: try Path.absolute($0))) }
      let vault = VaultStorage(
        at: URL(fileURLWithPath: path), keySource: try own ?? keySource(key, isNew: false),
        deadline: place.deadline)
      let storage = try open(key)
      try vault.open()
      let report = try Progress.showing("migrate", output) { progress in
        try SecureStorage.migrate(
          from: storage, to: vault, onConflict: overwriting ? .replace : .keepBoth,
          removingFromSource: !keeping, progress: progress)
      }
      try answer(report, "moved to \(path)", output)
    }

    /// Moves all values of a vault into the store.
    func migrate(
      from vault: VaultStorage, keeping: Bool, overwriting: Bool, _ key: KeyOptions,
      _ output: Output
    ) throws {
      let storage = try open(key)
      let report = try Progress.showing("migrate", output) { progress in
        try SecureStorage.migrate(
          from: vault, to: storage, onConflict: overwriting ? .replace : .keepBoth,
          removingFromSource: !keeping, progress: progress)
      }
      try answer(report, "moved to \(path)", output)
    }

    private func answer(_ report: MigrationReport, _ what: String, _ output: Output) throws {
      try output.done(
        "\(what): \(report.copied) copied, \(report.alreadyThere) already there",
        .object([
          ("copied", .number("\(report.copied)")),
          ("alreadyThere", .number("\(report.alreadyThere)")),
          ("conflicts", .array(report.conflicts.map { .string($0) })),
          ("unreadable", .number("\(report.unreadable)")),
        ]))
      try report.requireAll()
    }
  }
#else
  // `EtcdPlace` can't be made here, so none of these is ever called.
  extension EtcdPlace {
    func initialize(_ key: KeyOptions, _ output: Output) throws {}
    func addSlot(_ key: KeyOptions, _ choice: KeyChoice?, _ output: Output) throws {}
    func removeSlot(
      _ id: UInt32, _ acknowledgement: AcknowledgementOptions, _ key: KeyOptions, _ output: Output
    ) throws {}
    func promoteSlot(
      _ id: UInt32, _ acknowledgement: AcknowledgementOptions, _ key: KeyOptions, _ output: Output
    ) throws {}
    func acknowledge(as machine: String?, _ key: KeyOptions, _ output: Output) throws {}
    func forget(_ machine: String, _ key: KeyOptions, _ output: Output) throws {}
    func verify(expecting names: [String], _ key: KeyOptions, _ output: Output) throws {}
    func rotate(
      resuming: Bool, readmitting: Bool, _ key: KeyOptions, _ output: Output
    ) throws {}
    func backup(to file: String, _ key: KeyOptions, _ output: Output) throws {}
    func restore(from file: String, isConfirmed: Bool, _ key: KeyOptions, _ output: Output) throws {
    }
    func migrate(
      from vault: VaultStorage, keeping: Bool, overwriting: Bool, _ key: KeyOptions,
      _ output: Output
    ) throws {}
    func migrate(
      toVault file: String, _ vaultKeyFile: String?, keeping: Bool, overwriting: Bool,
      _ key: KeyOptions, _ output: Output
    ) throws {}
    func findings(_ key: KeyOptions) throws -> [Finding] { [] }
  }
#endif
