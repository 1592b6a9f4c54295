internal import CryptoCore

extension KeyAdministration {
  /// Makes a new data key and seals all records with the new key.
  ///
  /// Use it when no key leaked: the old data key stays valid while a record needs it. After a leak,
  /// call ``rotate(openedBy:names:keepingOldKeys:progress:)``, which ends the old data keys.
  ///
  /// A data key that no listed record needs afterwards is dropped where the place proves that it
  /// lists all records, as a sound vault does. Elsewhere it is retired: if the place has withheld a
  /// record and shows it later, reading it throws `damaged`, and
  /// ``reencrypt(readmitting:expecting:progress:)`` takes it back.
  ///
  /// - Parameter progress: as in ``reencrypt(readmitting:expecting:progress:)``.
  /// - Returns: how many records were sealed again, and how many stay under old data keys.
  /// - Throws: `StorageError`: `full` when the store keeps 1,000 data keys, see
  ///   ``dropRetiredKeys()``. Records that were not sealed again stay readable, and
  ///   ``reencrypt(readmitting:expecting:progress:)`` continues.
  public func rotateDataKey(
    progress: ((Int, Int) -> Void)? = nil
  ) throws(StorageError) -> ReencryptionReport {
    try store.checkWrite(nil, "rotateDataKey")
    try store.keys.update { (draft, _) throws(StorageError) in
      try draft.keyset.addPrimary(limit: Keyset.rotationLimit)
    }
    return try reencrypt(progress: progress)
  }

  /// Replaces all keys: makes a new root key, one new slot and a new data key, and seals all
  /// records again.
  ///
  /// Use it after a key, a passphrase or a root key leaked. It removes all slots, including those
  /// of recovery keys, because their secrets lead to the old root key; export a new recovery key
  /// afterwards. Someone with the old root key can read nothing that is written from now on. After
  /// this call has returned, they can't read the existing records either, and a record that they
  /// sealed is not read as a value.
  ///
  /// The old data keys end, even if records remain under them. A record that can't be opened is set
  /// aside: it stays in place, and reading it throws `damaged`. In a vault, a record is also set
  /// aside if it is in a part that the manifest does not account for, since someone with the old
  /// keys may have put it there. So verify a vault first, and repair it if needed. Afterwards look
  /// at ``ReencryptionReport/setAside``: ``reencrypt(readmitting:expecting:progress:)`` takes back
  /// the records that you trust.
  ///
  /// Without `names`, records are sealed again a few at a time, while others use the store. A suite
  /// seals them in one step. If the call is interrupted,
  /// ``reencrypt(readmitting:expecting:progress:)`` continues and ends the old keys. A place without
  /// a manifest (a keyring, a provider, a store that machines share) has then forgotten what was
  /// written with the old keys since the beginning, and seals it: finish it soon. The key that
  /// hashes names stays, so someone with the old root key can still test whether a guessed name is
  /// in the store.
  ///
  /// With `names`, the key that hashes names is replaced too. All is done in one atomic step that
  /// locks the store. The step takes about 5 µs for each record; writes of other processes wait, up
  /// to their deadline.
  ///
  /// - Parameters:
  ///   - source: opens the store from now on; nil keeps the storage's own source.
  ///   - names: whether names are hashed with a new key. Each record has to open, except those that
  ///     a vault's manifest does not count: such records stay in place and are set aside.
  ///   - keepingOldKeys: whether the old data keys stay valid while a record needs them, although
  ///     they may have leaked. Use it for a store whose records have several authentication tags.
  ///     The storage of each other tag then has to call
  ///     ``reencrypt(readmitting:expecting:progress:)``; the last call drops the old keys.
  ///   - progress: as in ``reencrypt(readmitting:expecting:progress:)``; does not count the step
  ///     that hashes names.
  /// - Returns: how many records were sealed again, how many stay, and how many were set aside.
  /// - Throws: `StorageError`; the store then opens with the old source or with the new one. Four
  ///   errors change nothing: `full` when the store keeps 1,000 data keys, see
  ///   ``dropRetiredKeys()``; `invalid` when the key of `source` already opens the store, since
  ///   anyone who has that key could still open it; with `names`, `damaged` for a record that does
  ///   not open, so that its name is not known, and for a record that opens but that a vault's
  ///   manifest does not account for; with `names`, `unsupported` for a store whose delegate can't
  ///   rename records.
  public func rotate(
    openedBy source: KeySource? = nil, names: Bool = false, keepingOldKeys: Bool = false,
    progress: ((Int, Int) -> Void)? = nil
  ) throws(StorageError) -> ReencryptionReport {
    try store.checkWrite(nil, "rotate")
    let material =
      if let source { try store.keys.material(of: source) } else { try ownMaterial() }
    if source != nil, let slot = try slot(openedBy: material.1) {
      throw Self.isOpener(
        slot, "the new key", ". Anyone who has that key could still open it: use another key"
      )
      .at(store.place.location)
    }
    let new = try SlotMaterial(of: material)
    let key = try cryptography { () throws(CryptoError) in try SymmetricKey.random() }
    var replacement = Replacement()
    let version = try store.keys.update(source: source) { (draft, records) throws(StorageError) in
      try draft.keyset.addPrimary(limit: Keyset.rotationLimit)
      try draft.replaceRoot(by: key)
      let id = draft.header.freeSlotID
      draft.header.slots = []
      _ = try Self.append(new, to: &draft, id: id)
      replacement = try replaceDataKeys(&draft.keyset, records, names, keepingOldKeys)
    }
    if case .older(let place, _) = replacement.beginning {
      try place.takeInAll()
      replacement.beginning = .older(place, version)
    }
    return try reencrypt(since: replacement.beginning, progress).adding(replacement.count)
  }

  /// What the step that changes the header did with the records.
  private struct Replacement {
    /// How many records were sealed again.
    var count = 0
    /// The records that were not sealed again; nil where a later step finds them.
    var beginning: RotationBeginning?
  }

  /// Ends the old data keys, and seals records again where the same step has to do that.
  private func replaceDataKeys(
    _ keyset: inout Keyset, _ records: HeldRecords, _ names: Bool, _ keepingOldKeys: Bool
  ) throws(StorageError) -> Replacement {
    var replacement = Replacement()
    let isAtOnce = names || store.place.writesAllRecords
    if names {
      replacement.count = try store.rename(records, &keyset)
    } else if isAtOnce {
      replacement.count = try store.resealAll(records, &keyset)
    } else if store.manifestPlace == nil, !keepingOldKeys {
      // The change of the header decides where others write meanwhile.
      if let place = store.distantPlace {
        replacement.beginning = .older(place, 0)
      } else {
        replacement.beginning = try store.snapshot(of: records).map { .snapshot($0) }
      }
    }
    // Records that this step does not seal again must open until a later step does.
    if !keepingOldKeys { keyset.endOthers(as: isAtOnce ? .retired : .ending) }
    return replacement
  }

  /// Seals all records that are under other data keys with the primary one.
  ///
  /// Drops unneeded data keys, or retires them if the place does not prove that it lists all
  /// records.
  ///
  /// Continues an interrupted rotation: ends the old data keys that the rotation had to end. In a
  /// vault, records in a part that the manifest does not account for stay unchanged.
  ///
  /// - Parameters:
  ///   - readmitting: whether to take back records that a rotation has set aside, and to seal
  ///     records again that a vault's manifest does not account for. Pass true only after a person
  ///     has checked these records: someone with a leaked key may have written them. Delete the
  ///     unwanted records first. The storage of each authentication tag takes back only its own
  ///     records.
  ///   - keys: keys that may have a record which the place does not list: these are looked at too.
  ///     A vault proves its list, so there these keys are looked at only when records are taken
  ///     back.
  ///   - progress: called from time to time with the number of records done and the number of all
  ///     records.
  /// - Returns: how many records were sealed again, how many stay, and how many are set aside.
  /// - Throws: `StorageError`; all records that were readable stay readable.
  public func reencrypt(
    readmitting: Bool = false, expecting keys: [StoreKey] = [],
    progress: ((Int, Int) -> Void)? = nil
  ) throws(StorageError) -> ReencryptionReport {
    try store.checkWrite(nil, "reencrypt")
    return try reencrypt(readmitting: readmitting, expecting: keys, since: nil, progress)
  }

  /// Drops the retired data keys that no listed record names, for good.
  ///
  /// A provider, a keyring or a file that others can write to could have withheld records. Nothing
  /// then proves that no record needs a retired key, so the key stays. By this call you say that
  /// all records are listed. Make sure first: compare the listed keys with what the application
  /// knows. A record that needs a
  /// dropped key and comes back later is lost.
  ///
  /// You need this call when a rotation throws `full`, after hundreds of rotations. It also makes
  /// sure that old copies of records, from before the last rotations, can't be opened with the keys
  /// that the store holds now.
  ///
  /// - Returns: how many keys were dropped.
  /// - Throws: `StorageError`; nothing is then changed: `damaged` when a listed record can't be
  ///   read at all, since it may need any key.
  @discardableResult
  public func dropRetiredKeys() throws(StorageError) -> Int {
    try requireSlots()
    try store.checkWrite(nil, "dropRetiredKeys")
    return try store.dropRetiredKeys()
  }

  private func reencrypt(
    readmitting: Bool = false, expecting keys: [StoreKey] = [], since beginning: RotationBeginning?,
    _ progress: ((Int, Int) -> Void)?
  ) throws(StorageError) -> ReencryptionReport {
    try requireSlots()
    // The keys that are ending now: this pass may miss records of keys that a later rotation ends.
    let ending = try store.keys.refresh()?.ending ?? []
    var pass = Reencryption(
      of: store, isReadmitting: readmitting, expecting: keys, since: beginning, progress)
    return try store.endDataKeys(ending, reencrypted: try pass.run())
  }
}
