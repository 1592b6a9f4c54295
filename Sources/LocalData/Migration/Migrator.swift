internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.Data

/// A completed step of a migration, already durable.
package enum MigrationStep: String, Hashable, Sendable, CaseIterable {
  case began, wrote, readBack, copied, recorded, removed, cleared
}

/// Runs one migration: copies, reads back, compares, then removes at the source.
///
/// Each attempt reads the present state instead of remembering it. So a run may follow a killed
/// one, and two may run at once. Each change of a place compares with the bytes that were read
/// before.
struct Migrator: Sendable {
  typealias Outcome = StorageMigrationReport.Outcome

  /// One migration, ready to run.
  struct Work: Sendable {
    let sources: [MigrationEnd]
    let destination: MigrationEnd
    let winner: StorageMigration.Winner
    let conditions: [@Sendable () async throws -> Bool]
    let produce: @Sendable ([Data?]) throws -> Data?
    let journal: JournalName
    let finished: [FinishedName]
    /// Whether the ledger says that the key's value is at the source: then the router wrote it
    /// there, after any earlier run.
    var isRecordedAtSource = false
  }

  let core: RouterCore
  let isDryRun: Bool
  let onStep: @Sendable (MigrationStep) -> Void
  private static let attempts = 20

  /// Runs a migration.
  ///
  /// - Returns: the outcome; never `failed` or `notStarted`.
  /// - Throws: the reason of a failure; no value is lost.
  func run(_ work: Work) async throws(StorageError) -> Outcome {
    do throws(StorageError) {
      let isInPlace = try Self.isInPlace(work)
      for _ in 0..<Self.attempts {
        if let outcome = try await (isInPlace ? reseal(work) : move(work)) { return outcome }
      }
      throw StorageError(.busy, "others changed the values while they were migrated; try again")
    } catch {
      throw error.about(work.destination.name)
    }
  }

  private static func isInPlace(_ work: Work) throws(StorageError) -> Bool {
    guard work.sources.contains(where: { $0.address == work.destination.address }) else {
      return false
    }
    guard work.sources.count == 1 else {
      throw StorageError(
        .invalid, "the destination of several values can't be the place of one of them")
    }
    guard work.sources[0].entry != work.destination.entry else {
      throw StorageError(
        .invalid,
        "source and destination are one place with one protection, so it would be unknown whether the value "
          + "was migrated; give the destination another name")
    }
    return true
  }

  // MARK: - From place to place

  /// The state that one look found.
  private struct Found: Sendable {
    var isFinished: Bool
    var journal: MigrationJournal?
    var sources: [Data?]
    var destination: Data?

    var hasSource: Bool { sources.contains { $0 != nil } }
    /// Whether the migration is finished: a run that was interrupted still has its journal.
    var isOver: Bool { isFinished && journal == nil }
    /// Whether a migration has finished with a source, and the source has a value again.
    var hasReturned = false
    var isBack: Bool { journal == nil && (hasReturned || (isFinished && hasSource)) }
  }

  private func look(_ work: Work) async throws(StorageError) -> Found {
    try await Blocking.run { [core] () throws(StorageError) in
      // Before the sources: otherwise a run that finishes meanwhile would look like a source that
      // came back.
      let isFinished = try core.ledger.isFinished(work.finished[0])
      let journal = try core.ledger.journal(work.journal)
      var sources: [Data?] = []
      var hasReturned = false
      for source in work.sources {
        // Before its value, for the same reason.
        let isFinished = try core.ledger.isFinished(FinishedName([source], work.destination))
        do throws(StorageError) {
          sources.append(try source.place.read())
        } catch {
          throw error.about(source.name)
        }
        if isFinished, sources.last != .some(nil) { hasReturned = true }
      }
      return Found(
        isFinished: isFinished, journal: journal, sources: sources,
        destination: try work.destination.place.read(), hasReturned: hasReturned)
    }
  }

  /// One attempt; nil if another look is needed.
  private func move(_ work: Work) async throws(StorageError) -> Outcome? {
    let found = try await look(work)
    guard !found.isBack || work.isRecordedAtSource else { throw Self.cameBack(work) }
    var isReplacing = false
    if let journal = found.journal, let stored = found.destination {
      switch try await finish(work, found, journal, stored) {
      case .done(let outcome): return outcome
      case .lookAgain: return nil
      case .copyAgain: isReplacing = true
      case .isAnothers: break
      }
    } else if let journal = found.journal, journal.isCopied,
      zip(journal.sources, found.sources).contains(where: { $0 != nil && $1 == nil }),
      found.hasSource
    {
      throw StorageError(
        .conflict,
        "the value was copied and part of its sources removed, and then another program removed the copy. The "
          + "remaining sources were not changed: remove them, or store the value again")
    }
    guard found.hasSource else {
      if found.destination == nil {
        // The value may be at a third place, so this is not `absent`.
        try await Blocking.run { () throws(StorageError) in
          try work.destination.requireNoConflict()
        }
      }
      try await finishWithoutSource(work, found)
      return found.destination == nil ? .absent : .alreadyThere
    }
    return try await copy(work, found, isReplacing: isReplacing)
  }

  /// Copies the value, or accepts the destination's; the next attempt reads back and removes.
  private func copy(
    _ work: Work, _ found: Found, isReplacing: Bool
  ) async throws(StorageError) -> Outcome? {
    guard try await isWanted(work) else { return .skipped }
    guard let new = try await produced(work, found.sources) else { return .skipped }
    if let stored = found.destination, !isReplacing {
      let existing = try await work.destination.open(stored)
      let isSame = work.destination.areEqual(existing, new)
      switch (isSame, work.winner) {
      case (true, _), (false, .destination):
        // The source must stay if the destination's bytes are not a value of its key.
        try work.destination.check(existing)
        if isDryRun { return .alreadyThere }
        _ = try await begin(work, found, stored, isAdopted: true)
        return nil
      case (false, .source): break
      case (false, .neither): throw Self.conflict(work)
      }
    }
    if isDryRun { return .moved }
    let sealed = try await sealed(new, work.destination)
    guard try await begin(work, found, sealed, isAdopted: false) else { return nil }
    onStep(.began)
    try await Blocking.run { [core] () throws(StorageError) in
      try work.destination.recordKeychain()
      try Self.recordFirst(work, core.ledger)
      // The next attempt handles other writes that happened meanwhile.
      _ = try work.destination.exchange(found.destination, sealed)
    }
    onStep(.wrote)
    return nil
  }

  /// Records the journal of a run; false if another process has finished the migration since
  /// `found`.
  private func begin(
    _ work: Work, _ found: Found, _ stored: Data, isAdopted: Bool
  ) async throws(StorageError) -> Bool {
    try await Blocking.run { [core] () throws(StorageError) in
      var digests: [[UInt8]?] = []
      for source in found.sources {
        digests.append(try ValueDigest.ofAny(source))
      }
      let journal = MigrationJournal(
        sources: digests, destination: try ValueDigest.of(stored), isCopied: isAdopted,
        isAdopted: isAdopted)
      return try core.ledger.begin(
        journal, work.journal, unless: found.isFinished ? nil : work.finished[0])
    }
  }

  /// Records the destination's place before a value is there.
  ///
  /// Exception: if the ledger names the source's
  /// place, that entry stays until the copy is done, since the only value is there.
  private static func recordFirst(_ work: Work, _ ledger: Ledger) throws(StorageError) {
    let destination = work.destination
    let recorded = try ledger.entry(destination.domain, destination.name)
    if let recorded, recorded != destination.entry, isOfSource(recorded, work) { return }
    try destination.requireNoConflict()
    try ledger.record(destination.entry, destination.domain)
  }

  private static func isOfSource(_ recorded: Ledger.Entry, _ work: Work) -> Bool {
    work.sources.contains {
      $0.label == work.destination.label && $0.isWhere(recorded)
    }
  }

  // MARK: - Finishing

  private enum Finish: Sendable {
    case done(Outcome)
    case lookAgain
    /// The source changed after the copy, and nobody else changed the copy.
    ///
    case copyAgain
    /// The destination's value is not the one that the journal describes.
    case isAnothers
  }

  /// Continues an earlier attempt from the journal.
  private func finish(
    _ work: Work, _ found: Found, _ journal: MigrationJournal, _ stored: Data
  ) async throws(StorageError) -> Finish {
    let isOurs = try ValueDigest.of(stored) == journal.destination
    guard isOurs || journal.isCopied else { return .isAnothers }
    if isDryRun { return .done(journal.isAdopted ? .alreadyThere : .moved) }
    if !isOurs {
      // Another program wrote to the destination: its value must open before the source is removed.
      try work.destination.check(try await work.destination.open(stored))
    } else if !journal.isCopied {
      // The bytes that were read back equal the written ones; now check that they open.
      try work.destination.check(try await work.destination.open(stored))
      onStep(.readBack)
      var copied = journal
      copied.isCopied = true
      let read = copied
      try await Blocking.run { [core] () throws(StorageError) in
        try core.ledger.record(read, work.journal)
      }
      onStep(.copied)
    }
    try await Blocking.run { [core] () throws(StorageError) in
      try core.ledger.record(work.destination.entry, work.destination.domain)
    }
    onStep(.recorded)
    for (index, source) in work.sources.enumerated() {
      guard let bytes = found.sources[index] else { continue }
      guard try ValueDigest.of(bytes) == journal.sources[index] else {
        return try await sourceChanged(work, found, journal, isOurs: isOurs)
      }
      let isRemoved = try await Blocking.run { () throws(StorageError) in
        try source.exchange(bytes, nil)
      }
      guard isRemoved else { return .lookAgain }
      onStep(.removed)
    }
    try await finish(work)
    onStep(.cleared)
    return .done(journal.isAdopted ? .alreadyThere : .moved)
  }

  /// Handles a source that changed after it was copied.
  private func sourceChanged(
    _ work: Work, _ found: Found, _ journal: MigrationJournal, isOurs: Bool
  ) async throws(StorageError) -> Finish {
    if journal.isAdopted {
      try await clear(work)
      return .lookAgain
    }
    let isWhole = zip(journal.sources, found.sources).allSatisfy { $0 == nil || $1 != nil }
    guard isOurs, isWhole else { throw Self.conflict(work) }
    return .copyAgain
  }

  /// Records that the migration is finished, after a run that found no source.
  ///
  /// A migration that a condition forbids is not finished: it has not been tried.
  private func finishWithoutSource(_ work: Work, _ found: Found) async throws(StorageError) {
    guard !isDryRun, !found.isOver else { return }
    if found.journal == nil, try await !isWanted(work) { return }
    try await finish(work)
  }

  private func finish(_ work: Work) async throws(StorageError) {
    try await Blocking.run { [core] () throws(StorageError) in
      try core.ledger.finish(work.finished, work.journal)
    }
  }

  private func clear(_ work: Work) async throws(StorageError) {
    try await Blocking.run { [core] () throws(StorageError) in
      try core.ledger.clear(work.journal)
    }
  }

  // MARK: - Within one place

  /// One attempt to change the protection of a value in place; nil if another look is needed.
  private func reseal(_ work: Work) async throws(StorageError) -> Outcome? {
    let (source, destination) = (work.sources[0], work.destination)
    let found = try await look(work)
    let recorded = try await Blocking.run { [core] () throws(StorageError) in
      try core.ledger.entry(destination.domain, destination.name)
    }
    guard let stored = found.destination else {
      try await finishWithoutSource(work, found)
      return .absent
    }
    if let journal = found.journal, try ValueDigest.of(stored) == journal.destination {
      if isDryRun { return .moved }
      try destination.check(try await destination.open(stored))
      onStep(.readBack)
      return try await finishInPlace(work, .moved)
    }
    if let recorded, recorded == destination.entry {
      try await finishWithoutSource(work, found)
      return .alreadyThere
    }
    // The ledger has an entry for each value that a router wrote.
    guard recorded != nil || !found.isOver else { throw Self.cameBack(work) }
    if let recorded, !source.isWhere(recorded) {
      try await Blocking.run { () throws(StorageError) in try destination.requireNoConflict() }
    }
    guard try await isWanted(work) else { return .skipped }
    guard let new = try await produced(work, [stored]) else { return .skipped }
    if isDryRun { return .moved }
    let sealed = try await sealed(new, destination)
    guard try await begin(work, found, sealed, isAdopted: false) else { return nil }
    onStep(.began)
    try await Blocking.run { () throws(StorageError) in
      try destination.recordKeychain()
      _ = try destination.exchange(stored, sealed)
    }
    onStep(.wrote)
    return nil
  }

  private func finishInPlace(
    _ work: Work, _ outcome: Outcome
  ) async throws(StorageError) -> Outcome {
    try await Blocking.run { [core] () throws(StorageError) in
      try core.ledger.record(work.destination.entry, work.destination.domain)
    }
    onStep(.recorded)
    try await finish(work)
    onStep(.cleared)
    return outcome
  }
}
