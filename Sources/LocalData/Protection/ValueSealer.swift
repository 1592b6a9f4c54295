internal import CryptoCore
internal import StorageCore

internal import struct Foundation.Data

/// Seals the values of one key, and opens them.
///
/// Keeps the keys that were derived last: PBKDF2 is to be slow for who guesses, and not for each read.
final class ValueSealer: Sendable {
  /// How new values are sealed; nil where the place does that.
  let sealing: Sealing?
  let serializer: Serializer.Form
  /// What sealed bytes are bound to besides.
  private let binding: [UInt8]
  private let derived = Lock<[DerivedKey]>([])
  private static let keptKeys = 4
  /// After so many seals under one salt another one is taken; NIST SP 800-38D allows 2^32.
  private static let sealLimit = 1 << 24

  /// How new values are sealed.
  struct Sealing: Sendable {
    /// With the declared salt, or an empty one where it is to be random.
    var pattern: Envelope.Sealing
    var hasRandomSalt: Bool
  }

  private struct Current {
    var salt: [UInt8] = []
    var count = ValueSealer.sealLimit
  }
  private let current = Lock(Current())

  init(_ sealing: Sealing?, _ serializer: Serializer.Form, binding: [UInt8]) {
    self.sealing = sealing
    self.serializer = serializer
    self.binding = binding
  }

  /// What is stored of serialized bytes.
  func seal(_ bytes: Data, _ material: SecureBytes?) throws(StorageError) -> Data {
    guard let sealing else { return Data(Envelope.head(serializer)) + bytes }
    guard let material else { throw Self.noMaterial }
    let key = try key(sealingBy(sealing), material)
    let head = Envelope.head(serializer, key.sealing, check: key.check)
    let record = try key.seal(bytes.bytes, context(head))
    return Data(head) + record
  }

  /// Opens what is stored.
  ///
  /// - Parameters:
  ///   - envelope: what is stored.
  ///   - materials: those that may open it.
  /// - Returns: the serialized bytes, which are the caller's to wipe.
  /// - Throws: `wrongKey` when none is of it, `typeMismatch` for another serializer's, `damaged`.
  func open(_ envelope: Envelope, _ materials: [SecureBytes]) throws(StorageError) -> Data {
    guard envelope.serializer == serializer else {
      throw StorageError(
        .typeMismatch,
        "the value was serialized as \(envelope.serializer) and the key says \(serializer); it is left "
          + "as it is")
    }
    guard let stored = envelope.sealing else {
      // What anybody who can write there could have put in the place of a sealed value.
      guard sealing == nil else {
        throw StorageError(
          .damaged, "the value is not sealed as the key declares; it is left as it is")
      }
      return envelope.body
    }
    guard let key = try matching(envelope, stored, materials) else { throw Self.wrongKey }
    var opened = Data()
    try key.open(envelope.body.bytes, context(envelope.head)) { bytes in
      opened = unsafe bytes.withUnsafeBytes { unsafe Data($0) }
    }
    return opened
  }

  /// Whether what is stored is under one of the materials; true for what is not sealed.
  func isUnder(_ materials: [SecureBytes], _ envelope: Envelope) throws(StorageError) -> Bool {
    guard let stored = envelope.sealing else { return true }
    return try matching(envelope, stored, materials) != nil
  }

  static let wrongKey = StorageError(
    .wrongKey,
    "the value is sealed under other key material than there is now; it is left as it is. Provide the "
      + "material that it was sealed under, or remove the key")
  private static let noMaterial = StorageError(.keyUnavailable, "there is no material for the key")

  // MARK: - Keys

  private func matching(
    _ envelope: Envelope, _ stored: Envelope.Sealing, _ materials: [SecureBytes]
  ) throws(StorageError) -> DerivedKey? {
    for material in materials {
      let key = try key(stored, material)
      if key.check == envelope.check { return key }
    }
    return nil
  }

  /// The key of material, derived if it was not lately.
  private func key(
    _ sealing: Envelope.Sealing, _ material: SecureBytes
  ) throws(StorageError) -> DerivedKey {
    let known = derived.withLock { keys in
      keys.first { $0.sealing == sealing && $0.material == material }
    }
    if let known { return known }
    let key = try DerivedKey(sealing, material, binding: binding)
    derived.withLock { keys in
      keys.insert(key, at: 0)
      if keys.count > Self.keptKeys { keys.removeLast() }
    }
    return key
  }

  /// How the next value is sealed.
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

  private func context(_ head: [UInt8]) -> RecordContext {
    var data: [UInt8] = []
    data.appendField(head)
    data.appendField(binding)
    return RecordContext(store: Self.store, name: Self.name, authenticationTag: data)
  }
}
