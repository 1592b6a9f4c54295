internal import CryptoCore

/// Remembers why a store did not open, as long as another attempt would fail the same way.
///
/// Another attempt fails the same way while the header has the same version and every source with a
/// slot has the same ``SourceTrace``. A source without a trace is asked each time: for instance,
/// nothing shows that a keyring was unlocked.
struct Refusal {
  let error: StorageError
  private let headerVersion: UInt64
  private let asked: Sources

  /// The sources that have a slot in a header, with their traces before they were asked.
  struct Sources {
    fileprivate let traces: [(candidate: KeySource.Candidate, trace: Int?)]
    /// How many sources were listed; a listed source may change while keys are replaced.
    fileprivate let count: Int

    init(_ source: KeySource, for header: StoreHeader) {
      count = source.candidates.count
      traces = source.candidates.filter { !header.slots(of: $0).isEmpty }
        .map { ($0, $0.trace()) }
    }
  }

  /// Codes of failures that last until a source or the header changes.
  private static let lasting: Set<StorageError.Code> = [
    .wrongKey, .keyUnavailable, .denied, .damaged, .invalid,
  ]

  /// Remembers `error`; nil for a failure that may end by itself.
  init?(_ error: StorageError, _ headerVersion: UInt64, asked: Sources) {
    guard Self.lasting.contains(error.code) else { return nil }
    self.error = error
    self.headerVersion = headerVersion
    self.asked = asked
  }

  /// Whether another attempt with `source` would fail the same way.
  func holds(for headerVersion: UInt64, with source: KeySource) -> Bool {
    self.headerVersion == headerVersion && source.candidates.count == asked.count
      && asked.traces.allSatisfy { $0.trace != nil && $0.candidate.trace() == $0.trace }
  }
}

/// Remembers the last passphrase that did not open a store, so that it is not stretched a second
/// time.
///
/// This is for sources that have to be asked each time, such as a closure. Only a hash of the
/// passphrase is kept. The key of the hash is random, used only here, and kept in secure memory.
final class RefusedPassphrase: Sendable {
  private struct Attempt: Equatable {
    let hash: NameHash
    let slots: [Slot]
  }
  private let state = Lock<(key: KeyedHash?, last: Attempt?)>((nil, nil))

  /// Whether `material` is a passphrase that was tried on these slots before.
  func wasTried(_ material: KeyMaterial, on slots: [Slot]) throws(StorageError) -> Bool {
    guard let last = state.withLock({ $0.last }) else { return false }
    return try attempt(material, slots) == last
  }

  /// Remembers that `material` opens none of the slots.
  func remember(_ material: KeyMaterial, for slots: [Slot]) throws(StorageError) {
    guard let attempt = try attempt(material, slots) else { return }
    state.withLock { $0.last = attempt }
  }

  private func attempt(
    _ material: KeyMaterial, _ slots: [Slot]
  ) throws(StorageError) -> Attempt? {
    guard case .passphrase(let bytes) = material else { return nil }
    let hash = try cryptography { () throws(CryptoError) in
      let key = try hashKey()
      return try bytes.withBytes { (span) throws(CryptoError) in try key.hash(span) }
    }
    return Attempt(hash: hash, slots: slots)
  }

  private func hashKey() throws(CryptoError) -> KeyedHash {
    if let key = state.withLock({ $0.key }) { return key }
    let fresh = try KeyedHash(SymmetricKey.random())
    return state.withLock { state in
      let key = state.key ?? fresh
      state.key = key
      return key
    }
  }
}
