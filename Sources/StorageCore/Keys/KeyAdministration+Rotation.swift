internal import CryptoCore

extension KeyAdministration {
  /// Seals with a fresh data key from now on, and all records anew.
  ///
  /// For keys that did not leak: the old data key stays valid while a record needs it. After a leak,
  /// ``rotate(openedBy:names:keepingOldKeys:progress:)`` ends it.
  ///
  /// - Parameter progress: as of ``reencrypt(readmitting:progress:)``.
  /// - Returns: what was sealed anew, and what stays under old data keys.
  /// - Throws: `StorageError`; what was not sealed anew stays readable,
  ///   ``reencrypt(readmitting:progress:)`` goes on.
  public func rotateDataKey(
    progress: ((Int, Int) -> Void)? = nil
  ) throws(StorageError) -> ReencryptionReport {
    try store.keys.update { (draft, _) throws(StorageError) in try draft.keyset.addPrimary() }
    return try reencrypt(progress: progress)
  }

  /// Replaces a root key that leaked: new root, new slot, new data key, all records sealed anew.
  ///
  /// The same as ``rotate(openedBy:names:keepingOldKeys:progress:)`` without new names.
  ///
  /// - Parameters:
  ///   - source: what opens the store from now on.
  ///   - keepingOldKeys: as of ``rotate(openedBy:names:keepingOldKeys:progress:)``.
  ///   - progress: as of ``reencrypt(readmitting:progress:)``.
  /// - Returns: what was sealed anew, and what was set aside.
  /// - Throws: as ``rotate(openedBy:names:keepingOldKeys:progress:)``.
  public func replaceRootKey(
    openedBy source: KeySource, keepingOldKeys: Bool = false,
    progress: ((Int, Int) -> Void)? = nil
  ) throws(StorageError) -> ReencryptionReport {
    try rotate(openedBy: source, keepingOldKeys: keepingOldKeys, progress: progress)
  }

  /// Replaces all keys: new root, one new slot, new data key, all records sealed anew.
  ///
  /// For a key, a passphrase or a root key that leaked. All slots go, recovery keys too, since their
  /// secrets lead to the old root; export a new recovery key afterwards. Whoever has the old root
  /// can read nothing that is written from now on, nor, once this has returned, what is there; and
  /// nothing that they sealed is read as a value.
  ///
  /// The old data keys end, whatever remains under them. A record that can't be opened is set aside:
  /// it stays in place and is read as `damaged`. So is, in a vault, a record of a part that its manifest
  /// does not account for, since somebody with the old keys may have put it there; verify a vault
  /// before, and repair it if need be. Look at ``ReencryptionReport/setAside``:
  /// ``reencrypt(readmitting:progress:)`` takes back what is to be believed.
  ///
  /// Without `names`, records are sealed anew some at a time while others use the store, and whatever
  /// interrupts that, ``reencrypt(readmitting:progress:)`` goes on and ends the old keys; the key that
  /// hashes names stays, so whoever has the old root can still test whether a name they guess is in the
  /// store. A suite does it in one step. With `names` that key is replaced as well, and all is done in
  /// one atomic step that takes the store alone: it costs about 5 µs for each record, in which other
  /// processes' writes wait, up to their deadline.
  ///
  /// - Parameters:
  ///   - source: what opens the store from now on; nil keeps the storage's own.
  ///   - names: whether names are hashed anew. Each record has to open, but for those that a vault's
  ///     manifest does not count: they are left where they are, and set aside.
  ///   - keepingOldKeys: whether the old data keys stay valid as long as a record needs them, although
  ///     they may have leaked: for a store whose records have several authentication tags. The storage
  ///     of each other tag then has to call ``reencrypt(readmitting:progress:)``, and the last call
  ///     drops the old keys.
  ///   - progress: as of ``reencrypt(readmitting:progress:)``; the step that hashes names is before that.
  /// - Returns: what was sealed anew, what stays and what was set aside.
  /// - Throws: `StorageError`; the store opens with the old source or with the new one. Nothing is
  ///   changed when it is `invalid`, for a key of `source` that opens the store already, since whoever
  ///   has it could go on; or, with `names`, `damaged`, for a record that does not open, whose name is
  ///   therefore not known, or that a vault's manifest does not account for, and `unsupported`, for a
  ///   store whose delegate can't rename records.
  public func rotate(
    openedBy source: KeySource? = nil, names: Bool = false, keepingOldKeys: Bool = false,
    progress: ((Int, Int) -> Void)? = nil
  ) throws(StorageError) -> ReencryptionReport {
    let material =
      if let source { try store.keys.material(of: source) } else { try ownMaterial() }
    if source != nil, let slot = try slot(openedBy: material.1) {
      throw Self.isOpener(slot, "the new key", ", and whoever has it could go on: take another")
        .at(store.keyed?.location)
    }
    let new = try SlotMaterial(of: material)
    let key = try cryptography { () throws(CryptoError) in try SymmetricKey.random() }
    var replacement = Replacement()
    try store.keys.update(source: source) { (draft, records) throws(StorageError) in
      try draft.keyset.addPrimary()
      try draft.replaceRoot(by: key)
      let id = draft.header.freeSlotID
      draft.header.slots = []
      _ = try Self.append(new, to: &draft, id: id)
      replacement = try replaceDataKeys(&draft.keyset, records, names, keepingOldKeys)
    }
    return try reencrypt(since: replacement.beginning, progress).adding(replacement.count)
  }

  /// What the step that changes the header did with the records.
  private struct Replacement {
    /// How many were sealed anew.
    var count = 0
    /// What the others are; nil where that is looked at later.
    var beginning: RecordSnapshot?
  }

  /// Ends the old data keys, and seals records anew where that belongs into the same step.
  private func replaceDataKeys(
    _ keyset: inout Keyset, _ records: HeldRecords, _ names: Bool, _ keepingOldKeys: Bool
  ) throws(StorageError) -> Replacement {
    var replacement = Replacement()
    let isAtOnce = names || store.keyed is any WholesaleDelegate
    if names {
      replacement.count = try store.rename(records, &keyset)
    } else if isAtOnce {
      replacement.count = try store.resealAll(records, &keyset)
    } else if !(store.keyed is any AccountsDelegate), !keepingOldKeys {
      replacement.beginning = try store.snapshot(of: records)
    }
    // What is not sealed anew in this step has to open until it is.
    if !keepingOldKeys { keyset.endOthers(as: isAtOnce ? .retired : .ending) }
    return replacement
  }

  /// Seals all records under the primary data key that are not, and drops the data keys that no
  /// record needs any more.
  ///
  /// Goes on where an interrupted rotation stopped: the old data keys that it was to end are ended.
  /// In a vault, records of a part that the manifest does not account for stay as they are.
  ///
  /// - Parameters:
  ///   - readmitting: whether records that a rotation has set aside are taken back, and those sealed
  ///     anew that a vault's manifest does not account for. To be said after somebody has looked: a
  ///     record under a key that leaked may be of whoever has the key. What is not wanted is deleted
  ///     before. The storage of each authentication tag takes back its own.
  ///   - progress: told how many records are done, of how many, now and then.
  /// - Returns: what was sealed anew, what stays and what is set aside.
  /// - Throws: `StorageError`; all records stay readable that were.
  public func reencrypt(
    readmitting: Bool = false, progress: ((Int, Int) -> Void)? = nil
  ) throws(StorageError) -> ReencryptionReport {
    try reencrypt(readmitting: readmitting, since: nil, progress)
  }

  private func reencrypt(
    readmitting: Bool = false, since beginning: RecordSnapshot?,
    _ progress: ((Int, Int) -> Void)?
  ) throws(StorageError) -> ReencryptionReport {
    guard let delegate = store.keyed else { throw Self.noSlots }
    // Those of now: of keys that another rotation ends meanwhile, records may be left behind here.
    let ending = try store.keys.refresh()?.ending ?? []
    var pass = Reencryption(
      of: store, delegate, isReadmitting: readmitting, since: beginning, progress)
    return try store.endDataKeys(ending, reencrypted: try pass.run())
  }
}
