internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.Data

/// Seals the values of one key, and opens them.
///
/// Caches the keys that were derived last: PBKDF2 must be slow for an attacker, but not for each
/// read.
final class ValueSealer: Sendable {
  /// How new values are sealed; nil if the place seals them.
  let sealing: Sealing?
  let serializer: Serializer.Form
  /// What sealed bytes are bound to.
  private let binding: ValueBinding
  /// The most iterations of PBKDF2 that a stored value may ask for.
  private let roundLimit: UInt32
  private let derived = Lock<[DerivedKey]>([])
  private static let keptKeys = 4
  /// The number of seals after which a new salt is used; NIST SP 800-38D allows 2^32.
  private static let sealLimit = 1 << 24

  /// How new values are sealed.
  struct Sealing: Sendable {
    /// The declared salt, or an empty one if it must be random.
    var pattern: Envelope.Sealing
    var hasRandomSalt: Bool
    /// Whether the material may be weaker than the minimum; for tests, which need fast derivations.
    var waivesFloor = false
  }

  private struct Current {
    var salt: [UInt8] = []
    var count = ValueSealer.sealLimit
  }
  private let current = Lock(Current())

  /// Creates a sealer.
  ///
  /// - Parameters:
  ///   - sealing: how new values are sealed; nil if the place seals them.
  ///   - serializer: how values are serialized.
  ///   - binding: what sealed bytes are bound to.
  ///   - declaredRounds: the iterations that the key declares, if `sealing` does not say so.
  init(
    _ sealing: Sealing?, _ serializer: Serializer.Form, binding: ValueBinding,
    declaredRounds: UInt32? = nil
  ) {
    self.sealing = sealing
    self.serializer = serializer
    self.binding = binding
    let declared = declaredRounds ?? sealing?.pattern.rounds ?? 0
    // About a second: whoever can write to the place decides the number in the file.
    roundLimit = 2 * max(declared, PassphraseFloor.pbkdf2SHA256Rounds)
  }

  /// The bytes to store for serialized bytes.
  func seal(_ bytes: Data, _ material: SecureBytes?) throws(StorageError) -> Data {
    // The place seals it.
    guard let sealing else { return Data(Envelope.head(serializer)) + bytes }
    guard let material else { throw Self.noMaterial }
    if !sealing.waivesFloor { try MaterialFloor.require(material, sealing.pattern) }
    let key = try key(sealingBy(sealing), material, binding.bytes(isWriting: true))
    let head = Envelope.head(serializer, key.sealing, check: key.check)
    let record = try key.seal(bytes.bytes, context(head, key.binding))
    return Data(head) + record
  }

  /// Opens stored bytes.
  ///
  /// - Parameters:
  ///   - envelope: the stored bytes.
  ///   - materials: the materials that may open them.
  /// - Returns: the serialized bytes, which the caller must wipe.
  /// - Throws: `wrongKey` if no material opens them, `typeMismatch` for another serializer,
  ///   `damaged`.
  func open(_ envelope: Envelope, _ materials: [SecureBytes]) throws(StorageError) -> Data {
    guard envelope.serializer == serializer else {
      throw StorageError(
        .typeMismatch,
        "the value was serialized as \(envelope.serializer), but the key declares \(serializer); it was "
          + "not changed")
    }
    guard let stored = envelope.sealing else {
      // Anyone who can write there could have replaced a sealed value with this one.
      guard sealing == nil else {
        throw StorageError(
          .damaged, "the value is not sealed as the key declares; it was not changed")
      }
      return envelope.body
    }
    guard let key = try matching(envelope, stored, materials) else { throw Self.wrongKey }
    var opened = Data()
    do throws(StorageError) {
      try key.open(envelope.body.bytes, context(envelope.head, key.binding)) { bytes in
        opened = unsafe bytes.withUnsafeBytes { unsafe Data($0) }
      }
    } catch {
      guard error.code == .damaged, let place = binding.place else { throw error }
      throw StorageError(.damaged, "\(error.message). \(place.advice)")
    }
    return opened
  }

  /// Whether one of the materials opens the stored bytes; true for bytes that are not sealed.
  func isUnder(_ materials: [SecureBytes], _ envelope: Envelope) throws(StorageError) -> Bool {
    guard let stored = envelope.sealing else { return true }
    return try matching(envelope, stored, materials) != nil
  }

  static let wrongKey = StorageError(
    .wrongKey,
    "the value is sealed under other key material than the present one; it was not changed. Provide the "
      + "material that it was sealed under, or remove the key")
  private static let noMaterial = StorageError(
    .keyUnavailable,
    "no key material is available to seal the value; provide it, then try again")

  // MARK: - Keys

  private func matching(
    _ envelope: Envelope, _ stored: Envelope.Sealing, _ materials: [SecureBytes]
  ) throws(StorageError) -> DerivedKey? {
    guard stored.rounds <= roundLimit else { throw tooManyRounds(stored.rounds) }
    let binding = try binding.bytes(isWriting: false)
    for material in materials {
      let key = try key(stored, material, binding)
      if key.check == envelope.check { return key }
    }
    return nil
  }

  private func tooManyRounds(_ rounds: UInt32) -> StorageError {
    StorageError(
      .damaged,
      "the value asks for \(rounds) iterations of PBKDF2, and the limit is \(roundLimit), so it was not "
        + "opened: somebody may have changed the number to delay the program. If the value is yours, declare "
        + "as many iterations for the key, and store the value again")
  }

  /// The key of a material, derived unless it is cached.
  private func key(
    _ sealing: Envelope.Sealing, _ material: SecureBytes, _ binding: [UInt8]
  ) throws(StorageError) -> DerivedKey {
    let known = derived.withLock { keys in
      keys.first { $0.sealing == sealing && $0.material == material && $0.binding == binding }
    }
    if let known { return known }
    let key = try DerivedKey(sealing, material, binding: binding)
    derived.withLock { keys in
      keys.insert(key, at: 0)
      if keys.count > Self.keptKeys { keys.removeLast() }
    }
    return key
  }

  /// The parameters for the next seal.
  private func sealingBy(_ sealing: Sealing) throws(StorageError) -> Envelope.Sealing {
    guard sealing.hasRandomSalt else { return sealing.pattern }
    var result = sealing.pattern
    let fresh = try cryptography { () throws(CryptoError) in
      try SecureRandom.publicBytes(count: 32)
    }
    result.salt = current.withLock { current in
      if current.count >= Self.sealLimit { current = Current(salt: fresh, count: 0) }
      current.count += 1
      return current.salt
    }
    return result
  }

  // MARK: - Binding

  private static let store = StoreID(Array("SPS LocalData v1".utf8))!
  private static let name = NameHash([UInt8](repeating: 0, count: NameHash.byteCount))!

  private func context(_ head: [UInt8], _ binding: [UInt8]) -> RecordContext {
    var data: [UInt8] = []
    data.appendField(head)
    data.appendField(binding)
    return RecordContext(store: Self.store, name: Self.name, authenticationTag: data)
  }
}
