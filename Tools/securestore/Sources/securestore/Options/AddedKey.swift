internal import StorageCore

/// The key of this machine that a restored store was given.
struct AddedKey {
  let slot: KeySlot
  /// The key file that may hold it.
  let file: NewKeyFile

  /// Notes the key, and the key file if it was created.
  func note(_ output: Output) {
    output.note("opens now with this machine's key, too: slot \(slot.id), \(slot.title)")
    file.note([slot], output)
  }
}

extension KeyChoice {
  /// Whether it is a recovery key, which no program has.
  fileprivate var isRecovery: Bool {
    switch self {
    case .recovery, .recoveryDescriptor, .recoveryCommand: true
    default: false
    }
  }
}

extension VaultPlace {
  /// Makes a key of this machine open the store, which was just restored and is open.
  ///
  /// That is the key that `newKey` selects. If it selects none, it is the application's own key,
  /// where a recovery key opened the backup and the application's programs would not open the store
  /// otherwise. Where other keys open the backup than an application's own, it has to be there
  /// already: none is put beside a store that was not to have one. A key that exists is used; none is
  /// made in the place of one that is gone.
  ///
  /// - Parameters:
  ///   - newKey: the options for the new key.
  ///   - choice: the key of the backup.
  ///   - administration: the keys of the store.
  ///   - output: receives notes.
  /// - Returns: the key; nil if no key was added.
  /// - Throws: `Failure`, or why the key can't be made; the store is then restored.
  func admit(
    _ newKey: NewKeyOptions, afterOpeningWith choice: KeyChoice?,
    to administration: KeyAdministration, _ output: Output
  ) throws -> AddedKey? {
    if try newKey.choice() != nil {
      let use = try newKey.use(for: self, output) { source in
        try slot(openedBy: source) ?? administration.add(source)
      }
      return use.old == nil ? AddedKey(slot: use.result, file: use.file) : nil
    }
    guard choice?.isRecovery == true else { return nil }
    let others = try slots().filter { $0.kind != KeySlot.recoveryKind }
    guard application != nil else {
      output.note(
        "no program opens it with a recovery key: give --app ID or a --new- option, or run slots add"
      )
      return nil
    }
    let ownKey = try keyFile(of: nil)
    let hasOwnKey = try ownKey.map { try Path.isThere($0) } ?? false
    guard hasOwnKey || others.isEmpty || others.contains(where: \.isOfApplication) else {
      let titles = others.map(\.title).withoutRepetition.joined(separator: ", ")
      output.note("programs open it with \(titles): see that they have this key on this machine")
      return nil
    }
    guard try !isOpened(by: .automatic) else { return nil }
    let file = try NewKeyFile(at: ownKey, for: self)
    do {
      let slot = try administration.add(.automatic)
      guard try isOpened(by: .automatic) else {
        throw Failure(
          .wrongKey, "the new key does not open the store; run slots to see what does", path: path)
      }
      return AddedKey(slot: slot, file: file)
    } catch {
      output.note("\(path) is restored, and only its former keys open it")
      try file.noteLeftOver(output)
      throw error
    }
  }
}

extension KeySlot {
  /// Whether it may be the slot of the key that an application has by itself.
  fileprivate var isOfApplication: Bool {
    kind == Self.fileKind && identifier == VaultPlace.ownKeyFile
      || kind == Self.credentialKind && identifier == "securestorage-key"
  }
}
