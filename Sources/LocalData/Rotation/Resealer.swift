internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.Data

/// Seals values again under a new shared key, one by one.
struct Resealer {
  enum Outcome {
    case resealed
    /// The value is under the new key already, or is not under a shared key.
    case unchanged
    case absent
    case left(StorageError)
  }

  private static let attempts = 20

  private let core: RouterCore
  private let present: SecureBytes
  private let former: FormerKey?
  /// Whether a migration is unfinished, so that its journal has to follow.
  private let hasJournals: Bool

  init(
    _ core: RouterCore, _ present: SecureBytes, _ former: FormerKey?
  ) throws(StorageError) {
    self.core = core
    self.present = present
    self.former = former
    hasJournals = try core.ledger.hasMigrations()
    guard let last = try core.ledger.resealing() else { return }
    // A run died while it sealed this value again.
    let stored = try core.places.place(at: last.address).read()
    if let stored, try ValueDigest.of(stored) == last.new {
      try core.ledger.finish(last)
    } else {
      try core.ledger.endResealing()
    }
  }

  /// Whether an error is about one value, so that the others can be sealed again.
  static func isOfValue(_ error: StorageError) -> Bool {
    [
      .damaged, .wrongKey, .unsupported, .denied, .typeMismatch, .unavailable,
      .configurationConflict,
    ].contains(error.code)
  }

  func reseal(_ value: SealedValue) throws(StorageError) -> Outcome {
    do throws(StorageError) {
      let place = try core.places.place(at: value.address)
      for _ in 0..<Self.attempts {
        if let outcome = try attempt(value, place) { return outcome }
      }
      throw StorageError(.busy, "others kept changing the value; rotate again", key: value.name)
    } catch {
      guard Self.isOfValue(error) else { throw error }
      return .left(error)
    }
  }

  /// One attempt; nil if another writer wrote meanwhile.
  private func attempt(
    _ value: SealedValue, _ place: any ValuePlace
  ) throws(StorageError) -> Outcome? {
    guard let stored = try place.read() else { return .absent }
    let isSealing = value.address.kind.isSealing
    guard isSealing || stored.starts(with: Envelope.mark) else { return .unchanged }
    let envelope = try Envelope(reading: stored)
    guard let sealing = envelope.sealing, sealing.origin == .masterKey else { return .unchanged }
    // Whoever can write to the place decides the number in a file that nobody declared.
    guard value.isKnown || sealing.rounds <= Self.roundLimit else { return .left(Self.isTooSlow) }
    let isListed = try former?.manifest.accounts(for: stored, at: value.address) ?? false
    // Listed bytes of a file are older than the present key.
    if isSealing || !isListed {
      let sealer = sealer(value, value.domain, envelope, sealing)
      guard try !sealer.isUnder([present], envelope) else { return .unchanged }
      guard isListed else { return .left(Self.isNotListed) }
    }
    guard let former else { return .left(ValueSealer.wrongKey) }
    var failure = ValueSealer.wrongKey
    for domain in value.domains {
      do throws(StorageError) {
        let sealer = sealer(value, domain, envelope, sealing)
        var opened = try sealer.open(envelope, [former.key])
        defer { Wipe.data(&opened) }
        let new = try sealer.seal(opened, present)
        return try exchange(stored, new, SealedValue(value.address, domain), place)
          ? .resealed : nil
      } catch {
        guard Self.isOfValue(error) else { throw error }
        failure = error
      }
    }
    return .left(failure)
  }

  private func sealer(
    _ value: SealedValue, _ domain: StorageDomain, _ envelope: Envelope,
    _ sealing: Envelope.Sealing
  ) -> ValueSealer {
    // A shared key is random, so a value that asks for few iterations keeps them.
    ValueSealer(
      ValueSealer.Sealing(pattern: sealing, hasRandomSalt: false, waivesFloor: true),
      envelope.serializer, binding: core.binding(of: SealedValue(value.address, domain)))
  }

  private func exchange(
    _ old: Data, _ new: Data, _ value: SealedValue, _ place: any ValuePlace
  ) throws(StorageError) -> Bool {
    defer { core.changes(at: value.address).notify(()) }
    return try replace(old, new, value, place)
  }

  private func replace(
    _ old: Data, _ new: Data, _ value: SealedValue, _ place: any ValuePlace
  ) throws(StorageError) -> Bool {
    guard hasJournals else { return try place.replace(old, by: new) }
    let digests = (try ValueDigest.of(old), try ValueDigest.of(new))
    guard try !core.ledger.migrations(with: digests.0).isEmpty else {
      return try place.replace(old, by: new)
    }
    let step = Ledger.Resealing(address: value.address, old: digests.0, new: digests.1)
    try core.ledger.record(step)
    guard try place.replace(old, by: new) else {
      try core.ledger.endResealing()
      return false
    }
    try core.ledger.finish(step)
    return true
  }

  /// About a second of work.
  private static let roundLimit = 2 * PassphraseFloor.pbkdf2SHA256Rounds
  private static let isTooSlow = StorageError(
    .damaged,
    "the value asks for more than \(roundLimit) iterations, and this program does not declare it, so it was "
      + "not opened. Rotate from the program that it belongs to, or remove it")
  private static let isNotListed = StorageError(
    .wrongKey,
    "the value is not under the present key, and it was not there when the key was replaced, so somebody with "
      + "the old key may have put it there; it was not sealed again. Restore it from a backup, or remove it"
  )
}

extension ProviderCall {
  /// Seals a value again if it is under former material.
  ///
  /// - Returns: whether it was sealed again; false for a value that is absent, or under the present
  ///   material.
  /// - Throws: `StorageError`: `wrongKey` if no material opens it, or why the provider gave none.
  func reseal(_ value: SealedValue, _ core: RouterCore) async throws(StorageError) -> Bool {
    let present = try await material()
    for _ in 0..<20 {
      let stored = try await Blocking.run { () throws(StorageError) in
        try core.places.place(at: value.address).read()
      }
      guard let stored else { return false }
      let envelope = try Envelope(reading: stored)
      guard let sealing = envelope.sealing, sealing.origin == .provider else { return false }
      let sealer = ValueSealer(
        ValueSealer.Sealing(pattern: sealing, hasRandomSalt: false),
        envelope.serializer, binding: core.binding(of: value))
      let isPresent = try await Blocking.run { () throws(StorageError) in
        try sealer.isUnder([present], envelope)
      }
      if isPresent { return false }
      let former = try await formerMaterial()
      let isDone = try await Blocking.run { () throws(StorageError) in
        var opened = try sealer.open(envelope, former)
        defer { Wipe.data(&opened) }
        let new = try sealer.seal(opened, present)
        return try core.places.place(at: value.address).replace(stored, by: new)
      }
      if isDone { return true }
    }
    throw StorageError(.busy, "others kept changing the value; rotate again", key: value.name)
  }
}
