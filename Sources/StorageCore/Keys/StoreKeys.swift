package import CryptoCore
internal import Synchronization

/// Opens, makes and follows the keys of one store.
///
/// The current keys are one atomic load away. Everything else happens under `gate`, which is held
/// while a key source is asked and a passphrase is stretched, so that each is done once: a source
/// must not use the store that it opens.
@safe
package final class StoreKeys: @unchecked Sendable {
  /// A key seals at most this often: NIST SP 800-38D section 8.3 allows 2^32 random nonces.
  static let sealLimit: UInt64 = 1 << 31
  private static let largestBlock = 1 << 20

  private struct State {
    var source: KeySource
    /// All keys that were ever current.
    ///
    /// None is released before the store is, so that a reader may use the current ones without
    /// counting references.
    var history: [OpenKeys] = []
    var nextBlock = 1024
    /// What gave the key that the store was opened with.
    var opener: KeySource.Candidate?
    /// The last time that nobody answered: for those who waited for that, too.
    var unanswered: (error: StorageError, end: ContinuousClock.Instant)?
    /// Why the store could not be opened the last time, if that may still be so.
    var refusal: Refusal?
    let refused = RefusedPassphrase()
    /// What no header may lead back behind.
    var past = KeyPast()
    /// Whether a store that is missing is an error, and never made.
    var mustExist = false
  }

  /// Nil when the keys follow directly from the application's key.
  let delegate: (any KeysetDelegate)?
  let algorithm: AEADAlgorithm
  /// Told the names, where the delegate keeps them in the clear.
  private let clear: ClearRecords?
  private let gate: Lock<State>
  /// Told of what is done through the store.
  let events = StoreEvents()
  /// The last of `history`, or nil before the store is open.
  ///
  /// An atomic pointer, which the compiler doesn't know to be Sendable.
  private let newest = unsafe Atomic<UnsafeRawPointer?>(nil)

  package init(
    delegate: (any KeysetDelegate)?, source: KeySource, algorithm: AEADAlgorithm,
    clear: ClearRecords? = nil
  ) {
    self.delegate = delegate
    self.algorithm = algorithm
    self.clear = clear
    gate = Lock(State(source: source))
  }

  /// The keys that were current last, or nil before the store is open.
  @inline(__always)
  var current: OpenKeys? {
    unsafe uncounted?.takeUnretainedValue()
  }

  /// The same, without a reference of its own: every key ever published stays in `history`.
  @inline(__always)
  var uncounted: Unmanaged<OpenKeys>? {
    guard let pointer = unsafe newest.load(ordering: .acquiring) else { return nil }
    return unsafe Unmanaged<OpenKeys>.fromOpaque(pointer)
  }

  /// The keys for reading, or nil when the store is new and holds nothing.
  @inline(__always)
  func forReading() throws(StorageError) -> OpenKeys? {
    if let current { return current }
    return try refresh()
  }

  /// The keys for writing; made, if the store is new.
  @inline(__always)
  func forWriting() throws(StorageError) -> OpenKeys {
    if let current { return current }
    return try openOrCreate()
  }

  /// Follows the header, after somebody changed it.
  ///
  /// - Returns: nil when the store is new, or was emptied, and holds nothing.
  @discardableResult
  func refresh() throws(StorageError) -> OpenKeys? {
    try underGate { (state) throws(StorageError) in try refresh(&state) }
  }

  /// Keys for each way in which names were ever hashed, the current one first.
  ///
  /// To find out whose record a change is of, and not to open it: some of them may have ended.
  func nameSpaces() -> [OpenKeys] {
    gate.withLock { state in
      var spaces: [OpenKeys] = []
      for keys in [current].compactMap({ $0 }) + state.history.reversed()
      where !spaces.contains(where: { $0.nameSpace === keys.nameSpace }) {
        spaces.append(keys)
      }
      return spaces
    }
  }

  /// Opens the store, which has to be there; from now on it is never made, be it opened now or not.
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
        .busy,
        "another program keeps making and emptying the store; try again "
          + "when it has ended")
    }
  }

  /// Sets aside more seals of the primary key, or replaces it when it has sealed enough.
  func reserveSeals() throws(StorageError) {
    try underGate { (state) throws(StorageError) in
      let wasThere = current != nil
      guard let keys = try refresh(&state) else {
        if wasThere { throw Self.wasRemoved }
        return
      }
      // Another thread may have been here just before.
      guard !keys.hasSeals else { return }
      state.opener?.keep()
      guard keys.primary.algorithm.countsSeals else { return keys.addSeals(1) }
      let block = state.nextBlock
      var isReserved = false
      try update(&state) { (draft, _) throws(StorageError) in
        let index = draft.keyset.primaryIndex
        // Not the sum, which a count of who knows whose hand may overflow.
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

  /// Says that something is sealed by what follows from these keys.
  func keepOpener() { gate.withLock { $0.opener?.keep() } }

  /// What opens the store.
  package var source: KeySource { gate.withLock { $0.source } }

  /// Changes the header of the open store, and follows it.
  ///
  /// - Parameters:
  ///   - source: from now on the source, if given.
  ///   - body: changes a draft of the header, with the records at hand; called again when somebody
  ///     else changed the header meanwhile.
  /// - Throws: `StorageError`, or what `body` throws; the header is then unchanged.
  func update(
    source: KeySource? = nil,
    _ body: (inout HeaderDraft, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) {
    try underGate { (state) throws(StorageError) in
      guard delegate != nil else {
        throw StorageError(
          .unsupported, "this store's key is the application's own; it has no slots to change")
      }
      guard try refresh(&state) != nil else {
        throw Self.isNew
      }
      if let source {
        let previous = state.source
        state.source = KeySource.firstAvailable([source, previous])
        state.refusal = nil  // it is of the sources as they were
        do throws(StorageError) {
          try update(&state, body)
        } catch {
          // Else either of them may be the one that opens it.
          if error.code != .outcomeUnknown { state.source = previous }
          throw error
        }
        state.source = source
        state.opener = nil
      } else {
        try update(&state, body)
      }
    }
  }

  /// The material of `source` for a new slot; made where the source can and has none.
  func material(
    of source: KeySource
  ) throws(StorageError) -> (KeySource.Candidate, KeyMaterial) {
    do throws(StorageError) {
      return try source.materialForNewSlot()
    } catch {
      throw error.at(delegate?.location)
    }
  }

  /// Runs `body` alone, and reports when that is over: whoever is told may use the store.
  ///
  /// Its errors are of the store's file, if they name no other one.
  private func underGate<Result>(
    _ body: (inout State) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    do throws(StorageError) {
      return try StorageDiagnostics.reportingAfterwards { () throws(StorageError) in
        defer { StorageDiagnostics.reportUnlockedMemory() }
        let start = ContinuousClock.now
        return try gate.withLock { (state) throws(StorageError) in
          // Otherwise each of them would wait for a service as long again, or ask the user again.
          if let last = state.unanswered, last.end > start { throw last.error }
          do throws(StorageError) {
            return try body(&state)
          } catch {
            if error.code == .timedOut || error.code == .dismissed {
              state.unanswered = (error, .now)
            }
            throw error
          }
        }
      }
    } catch {
      throw error.at(delegate?.location)
    }
  }

  // MARK: - Under the gate

  private func refresh(_ state: inout State) throws(StorageError) -> OpenKeys? {
    guard let delegate else {
      if let current { return current }
      return try openDirectly(&state)
    }
    var (found, version) = try delegate.header()
    if found == nil, try !delegate.names().isEmpty {
      // Between the two looks another process may have made the store, and written.
      (found, version) = try delegate.header()
      guard found != nil else { throw Self.missingHeader }
    }
    guard let bytes = found else {
      if let failure = state.source.failure { throw failure }
      unsafe newest.store(nil, ordering: .releasing)
      try checkAbsence(isAllowed: !state.mustExist)
      return nil
    }
    if let current, current.headerVersion == version, current.isOwn {
      adopt(current, delegate, version)
      return current
    }
    let header = try StoreHeader(reading: bytes)
    if let refusal = state.refusal, refusal.holds(for: version) {
      throw state.past.failure(refusal.error, of: header)
    }
    let root = try root(of: header, version, &state)
    let keyset = try root.openKeyset(of: header)
    try state.past.follow(header, keyset, version, in: delegate)
    let known = state.history.last {
      $0.isOwn && $0.store == header.store && $0.root?.key == root.key && $0.isOpen(keyset)
    }
    if let known {
      // In this order: from then on other threads write under them.
      adopt(known, delegate, version)
      known.headerVersion = version
      select(known)
      return known
    }
    let keys = try OpenKeys(keyset, root: root, store: header.store, previous: state.history.last)
    adopt(keys, delegate, version)
    keys.headerVersion = version
    publish(keys, &state)
    return keys
  }

  private func root(
    of header: StoreHeader, _ version: UInt64, _ state: inout State
  ) throws(StorageError) -> RootKey {
    if let root = current?.root, try root.isRoot(of: header) { return root }
    // Before they are asked: what changes from now on is seen by the next attempt.
    let asked = Refusal.Sources(state.source, for: header)
    let opening: Opening
    do throws(StorageError) {
      opening = try header.unwrapRoot(
        by: state.source, of: delegate?.location, refused: state.refused)
    } catch {
      state.refusal = Refusal(error, version, asked: asked)
      throw state.past.failure(error, of: header)
    }
    (state.opener, state.refusal) = (opening.opener, nil)
    return RootKey(opening.root, store: header.store, place: try place())
  }

  private func create(_ state: inout State) throws(StorageError) {
    guard let delegate else { return }
    try checkMaking()
    let (candidate, material) = try state.source.materialForNewSlot()
    let store = try cryptography { () throws(CryptoError) in try StoreID.random() }
    let root = RootKey(
      try cryptography { () throws(CryptoError) in try SymmetricKey.random() }, store: store,
      place: try delegate.place())
    let slot = try Slot(
      id: 1, SlotMaterial(of: (candidate, material)), root: root.key, store: store)
    let keyset = try Keyset(algorithm: algorithm)
    let header = StoreHeader(
      store: store, slots: [slot], rootCheck: try root.check(),
      sealedKeyset: try root.seal(keyset))
    _ = try delegate.updateHeader { (bytes, records) throws(StorageError) in
      // Another process may have been first: then its header stays.
      guard bytes == nil else { return }
      guard records.isEmpty else { throw Self.missingHeader }
      bytes = header.bytes
      try records.authenticate(with: keyset.manifestKeys(store: store), replacing: nil)
    }
  }

  private func update(
    _ state: inout State,
    _ body: (inout HeaderDraft, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) {
    guard let delegate else { return }
    for _ in 0..<100 {
      guard let open = try refresh(&state), let root = open.root else {
        throw Self.wasRemoved
      }
      state.opener?.keep()
      var isStale = false
      _ = try delegate.updateHeader { (bytes, records) throws(StorageError) in
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
        // Somebody else may have changed the header since these keys were opened.
        guard open.isOpen(draft.keyset) else {
          isStale = true
          return
        }
        let old = try draft.keyset.manifestKeys(store: header.store)
        try records.authenticate(with: old, replacing: old)
        try body(&draft, records)
        bytes = try draft.finish()
        try records.authenticate(
          with: draft.keyset.manifestKeys(store: header.store), replacing: old)
      }
      if !isStale {
        // It is done, whatever becomes of this: the next access follows the header by its version.
        do throws(StorageError) { _ = try refresh(&state) } catch {}
        return
      }
    }
    throw StorageError(.busy, "the store's keys are being changed by somebody else; try again")
  }

  private func openDirectly(_ state: inout State) throws(StorageError) -> OpenKeys {
    // Such a store can't say whether it holds data, so nothing that makes keys may be asked: a key
    // made in the place of a lost one would hash all names anew and find nothing.
    guard let candidate = state.source.candidates.first, candidate.kind == .key,
      case .key(let key)? = try candidate.read()
    else {
      throw StorageError(
        .unsupported, "a delegate that holds no header accepts only the key source .key")
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

  /// Has the delegate know the keys before anything is committed under them.
  private func adopt(_ keys: OpenKeys, _ delegate: any KeysetDelegate, _ version: UInt64) {
    guard let manifest = keys.manifest else { return }
    delegate.adopt(manifest, headerVersion: version)
  }

  /// Makes keys of the history the current ones.
  private func select(_ keys: OpenKeys) {
    unsafe newest.store(
      UnsafeRawPointer(Unmanaged.passUnretained(keys).toOpaque()), ordering: .releasing)
  }

  private func place() throws(StorageError) -> String {
    try delegate?.place() ?? ""
  }
}
