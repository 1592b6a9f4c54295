package import CryptoCore
internal import Synchronization

/// Opens, creates and refreshes the keys of one store.
///
/// Reading the current keys costs one atomic load. All other work holds the lock `gate`, also while
/// a key source is asked and a passphrase is stretched, so that each happens once. So a source must
/// not use the store that it opens.
@safe
package final class StoreKeys: @unchecked Sendable {
  /// How often one key seals at most: NIST SP 800-38D section 8.3 allows 2^32 random nonces.
  static let sealLimit: UInt64 = 1 << 31
  private static let largestBlock = 1 << 20

  /// The place of the header.
  let place: any RecordPlace
  /// The place, if it keeps a manifest.
  private let manifestPlace: (any ManifestPlace)?
  /// Whether the place has a header; else the keys are derived directly from the application's key.
  let hasHeader: Bool
  let algorithm: AEADAlgorithm
  /// The test that the store belongs to, or nil.
  let owner: OwningTest?
  /// Receives the names, where the place stores names unencrypted.
  private let clear: ClearRecords?
  let gate: Lock<State>
  /// Whether a key source that is code of the program is being asked, which may take any time.
  let asksProgram = Atomic<Bool>(false)
  /// Receives the events of the store.
  let events = StoreEvents()
  /// The last of `history`, or nil before the store is open.
  ///
  /// An atomic pointer; the compiler does not know that it is Sendable.
  private let newest = unsafe Atomic<UnsafeRawPointer?>(nil)

  package init(
    _ place: any RecordPlace, hasHeader: Bool = true, source: KeySource,
    algorithm: AEADAlgorithm, clear: ClearRecords? = nil
  ) {
    self.place = place
    manifestPlace = place as? any ManifestPlace
    self.hasHeader = hasHeader
    self.algorithm = algorithm
    owner = source.owner
    self.clear = clear
    gate = Lock(State(source: source))
  }

  /// The keys that were opened last, or nil before the store is open.
  @inline(__always)
  var current: OpenKeys? {
    unsafe uncounted?.takeUnretainedValue()
  }

  /// The same without a counted reference: `history` keeps all published keys alive.
  @inline(__always)
  var uncounted: Unmanaged<OpenKeys>? {
    guard let pointer = unsafe newest.load(ordering: .acquiring) else { return nil }
    return unsafe Unmanaged<OpenKeys>.fromOpaque(pointer)
  }

  /// The keys for reading, or nil when the store is new and holds nothing.
  @inline(__always)
  func forReading() throws(StorageError) -> OpenKeys? {
    if let owner { try owner.check() }
    if let current { return current }
    return try refresh()
  }

  /// The keys for writing; creates them if the store is new.
  @inline(__always)
  func forWriting() throws(StorageError) -> OpenKeys {
    if let owner { try owner.check() }
    if let current { return current }
    return try openOrCreate()
  }

  /// Reads the header again and opens its keys if they changed.
  ///
  /// - Returns: the current keys, or nil when the store is new or was emptied, and holds nothing.
  @discardableResult
  func refresh() throws(StorageError) -> OpenKeys? {
    try underGate { (state) throws(StorageError) in try refresh(&state) }
  }

  /// Opens the store, which has to exist, and never creates it from now on, even if opening fails.
  func openExisting() throws(StorageError) {
    try underGate { (state) throws(StorageError) in
      try makeNothing()
      state.mustExist = true
      _ = try refresh(&state)
    }
  }

  func openOrCreate() throws(StorageError) -> OpenKeys {
    try underGate { (state) throws(StorageError) in
      for _ in 0..<100 {
        if let keys = try refresh(&state) { return keys }
        try create(&state)
      }
      throw StorageError(
        .busy, "another process keeps creating and emptying the store; end it, and try again")
    }
  }

  /// Reserves more seals of the primary key, or replaces the key when it has sealed often enough.
  func reserveSeals() throws(StorageError) {
    try underGate { (state) throws(StorageError) in
      let wasThere = current != nil
      guard let keys = try refresh(&state) else {
        if wasThere { throw Self.wasRemoved }
        return
      }
      // Another thread may have reserved seals just before.
      guard !keys.hasSeals else { return }
      keep(state.opener)
      guard keys.primary.algorithm.countsSeals else { return keys.addSeals(1) }
      let block = state.nextBlock
      var isReserved = false
      _ = try update(&state) { (draft, _) throws(StorageError) in
        let index = draft.keyset.primaryIndex
        // Not the sum, which could overflow: anyone with the keys may have written any count.
        if draft.keyset.entries[index].reservedSeals > Self.sealLimit - UInt64(block) {
          try draft.keyset.addPrimary()
        } else {
          draft.keyset.entries[index].reservedSeals += UInt64(block)
          isReserved = draft.keyset.primaryID == keys.primary.id
        }
      }
      if isReserved { keys.addSeals(block) }
      state.nextBlock = min(block * 2, Self.largestBlock)
    }
  }

  /// Tells the source that its key is needed, because something is sealed with derived keys.
  func keepOpener() { gate.withLock { keep($0.opener) } }

  private func keep(_ opener: KeySource.Candidate?) {
    opener?.keep()
    do throws(StorageError) { try opener?.dependents()?.note(noteOfPlace()) } catch {
      // Best effort, as the marker of a key file: the folder of settings may be read-only.
    }
  }

  /// The key source of the store.
  package var source: KeySource { gate.withLock { $0.source } }

  /// Changes the header of the open store, and opens the new keys.
  ///
  /// - Parameters:
  ///   - source: replaces the store's key source, if given.
  ///   - body: changes a draft of the header, and can use the records; called again when another
  ///     process or thread changed the header meanwhile.
  /// - Returns: the version of the changed header.
  /// - Throws: `StorageError`, or what `body` throws; the header is then unchanged.
  @discardableResult
  func update(
    source: KeySource? = nil,
    _ body: (inout HeaderDraft, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    try underGate { (state) throws(StorageError) in
      guard hasHeader else {
        throw StorageError(
          .unsupported,
          "this store is opened directly with the application's key and has no key slots to change")
      }
      guard try refresh(&state) != nil else {
        throw Self.isNew
      }
      if let source {
        let previous = state.source
        state.source = KeySource.firstAvailable([source, previous])
        state.refusal = nil  // it was about the old sources
        let version: UInt64
        do throws(StorageError) {
          version = try update(&state, body)
        } catch {
          // After outcomeUnknown, either source may be the one that opens the store.
          if error.code != .outcomeUnknown { state.source = previous }
          throw error
        }
        state.source = source
        state.opener = nil
        return version
      }
      return try update(&state, body)
    }
  }

  // MARK: - Under the gate

  private func refresh(_ state: inout State) throws(StorageError) -> OpenKeys? {
    guard hasHeader else {
      if let current { return current }
      return try openDirectly(&state)
    }
    var (found, version) = try place.header()
    if found == nil, try !place.names().isEmpty {
      // Another process may have created the store and written records between the two reads.
      (found, version) = try place.header()
      guard found != nil else { throw Self.missingHeader }
    }
    guard let bytes = found else {
      if let failure = state.source.failure { throw failure }
      unsafe newest.store(nil, ordering: .releasing)
      try checkAbsence(isAllowed: !state.mustExist)
      return nil
    }
    if let current, current.headerVersion == version, current.isOwn {
      adopt(current, version)
      return current
    }
    let header = try StoreHeader(reading: bytes)
    if let refusal = state.refusal, refusal.holds(for: version, with: state.source) {
      throw state.past.failure(refusal.error, of: header)
    }
    let root = try root(of: header, version, &state)
    let keyset = try root.openKeyset(of: header)
    try state.past.follow(header, keyset, version, in: manifestPlace)
    let known = state.history.last {
      $0.isOwn && $0.store == header.store && $0.root?.key == root.key && $0.isOpen(keyset)
    }
    if let known {
      // First adopt, then select: after `select`, other threads write with these keys.
      adopt(known, version)
      known.headerVersion = version
      select(known)
      return known
    }
    let keys = try OpenKeys(keyset, root: root, store: header.store, previous: state.history.last)
    adopt(keys, version)
    keys.headerVersion = version
    publish(keys, &state)
    return keys
  }

  private func root(
    of header: StoreHeader, _ version: UInt64, _ state: inout State
  ) throws(StorageError) -> RootKey {
    if let root = current?.root, try root.isRoot(of: header) { return root }
    let opening: Opening
    do throws(StorageError) {
      opening = try asking(state.source) { () throws(StorageError) in
        try unwrapRoot(of: header, by: state.source)
      }
    } catch {
      state.refusal = Refusal(error, version, of: state.source)
      throw state.past.failure(error, of: header)
    }
    (state.opener, state.refusal) = (opening.opener, nil)
    return RootKey(opening.root, store: header.store, place: try place.place())
  }

  /// Opens the root key of a header of this place.
  ///
  /// - Throws: as ``StoreHeader/unwrapRoot(by:of:)``.
  func unwrapRoot(
    of header: StoreHeader, by source: KeySource
  ) throws(StorageError) -> Opening {
    do throws(StorageError) {
      return try header.unwrapRoot(by: source, of: place.location)
    } catch {
      throw place is any MadeByCommand ? error.withoutStartingAnew : error
    }
  }

  private func create(_ state: inout State) throws(StorageError) {
    try checkMaking()
    let (candidate, material) = try asking(state.source) { () throws(StorageError) in
      try state.source.materialForNewSlot(of: place.location)
    }
    let store = try cryptography { () throws(CryptoError) in try StoreID.random() }
    let root = RootKey(
      try cryptography { () throws(CryptoError) in try SymmetricKey.random() }, store: store,
      place: try place.place())
    let slot = try Slot(
      id: 1, SlotMaterial(of: (candidate, material)), root: root.key, store: store)
    let keyset = try Keyset(algorithm: algorithm)
    let header = StoreHeader(
      store: store, slots: [slot], rootCheck: try root.check(),
      sealedKeyset: try root.seal(keyset))
    _ = try place.updateHeader { (bytes, records) throws(StorageError) in
      // If another process was first, its header stays.
      guard bytes == nil else { return }
      guard records.isEmpty else { throw Self.missingHeader }
      bytes = header.bytes
      try records.authenticate(with: keyset.manifestKeys(store: store), replacing: nil)
    }
  }

  private func update(
    _ state: inout State,
    _ body: (inout HeaderDraft, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 {
    for _ in 0..<100 {
      guard let open = try refresh(&state), let root = open.root else {
        throw Self.wasRemoved
      }
      keep(state.opener)
      var isStale = false
      var withFewerSlots: StoreHeader?
      let version = try place.updateHeader { (bytes, records) throws(StorageError) in
        guard let current = bytes else {
          isStale = true
          return
        }
        let header = try StoreHeader(reading: current)
        guard try root.isRoot(of: header) else {
          isStale = true
          return
        }
        var draft = try HeaderDraft(header, root)
        // Another process may have changed the header since these keys were opened.
        guard open.isOpen(draft.keyset) else {
          isStale = true
          return
        }
        let old = try draft.keyset.manifestKeys(store: header.store)
        try records.authenticate(with: old, replacing: old)
        try body(&draft, records)
        let new = try draft.finish()
        bytes = new
        let changed = try StoreHeader(reading: new)
        let ended = Set(header.slots.map(\.id)).subtracting(changed.slots.map(\.id))
        withFewerSlots = ended.isEmpty ? nil : changed
        try records.authenticate(
          with: draft.keyset.manifestKeys(store: header.store), replacing: old)
      }
      if !isStale {
        // The change is done even if this fails: the next access sees the new version of the
        // header.
        do throws(StorageError) { _ = try refresh(&state) } catch {}
        if let withFewerSlots { forget(withFewerSlots, state.source) }
        return version
      }
    }
    throw StorageError(.busy, "another process keeps changing the store's keys; try again")
  }

  private func openDirectly(_ state: inout State) throws(StorageError) -> OpenKeys {
    // Such a store can't tell whether it holds data, so a source that makes keys must not be asked:
    // with a new key in place of a lost one, all names would hash differently and no record would
    // be found.
    guard let candidate = state.source.candidates.first, candidate.kind == .key,
      case .key(let key)? = try candidate.read()
    else {
      throw StorageError(
        .unsupported, "a delegate without a header accepts only a key source of the kind .key")
    }
    let keys = try OpenKeys(directly: key, clear: clear)
    publish(keys, &state)
    return keys
  }

  private func publish(_ keys: OpenKeys, _ state: inout State) {
    if let last = state.history.last, last.primary.id != keys.primary.id {
      events.tell(.changedKeys)
    }
    state.history.append(keys)
    select(keys)
  }

  /// Gives the keys to the place before anything is committed with them.
  private func adopt(_ keys: OpenKeys, _ version: UInt64) {
    guard let manifestPlace, let manifest = keys.manifest else { return }
    manifestPlace.adopt(manifest, headerVersion: version)
  }

  /// Makes `keys`, which `history` holds, the current keys.
  private func select(_ keys: OpenKeys) {
    unsafe newest.store(
      UnsafeRawPointer(Unmanaged.passUnretained(keys).toOpaque()), ordering: .releasing)
  }
}
