internal import CryptoCore
internal import StorageCore

internal import struct Foundation.Data

/// Converts between shared entries and the values of one key.
struct SyncSealer: Sendable {
  let form: Serializer.Form
  /// Nil if the key declares that its value is readable.
  private let sealer: ValueSealer?
  private let materials: Materials

  /// The sealer of a key, by its policy, under the key that the machines share or the provider's material.
  ///
  /// - Throws: `unsupported` for a policy that binds a value to this machine or to a passcode;
  ///   `keyUnavailable` if the value is sealed and no shared key was given.
  init<Key: StorageKey>(
    _ key: Key, _ plan: ProtectionPlan, _ ofRoute: Materials, shared: SymmetricKey?
  ) throws(StorageError) {
    form = key.serializer.form
    guard !plan.isPlain else {
      (sealer, materials) = (nil, .none)
      return
    }
    guard !plan.isOfDevice, plan.origin != .passcode else {
      throw StorageError(
        .unsupported,
        "the key's policy \(key.security) binds the value to this machine, so it can't be sent to others; "
          + "declare another policy, or the syncPolicy never", key: key.name)
    }
    if case .provider = plan.origin {
      materials = ofRoute
    } else {
      guard let shared else {
        throw StorageError(
          .keyUnavailable,
          "the key's value must be sealed, but connect was called without the key that the machines share",
          key: key.name)
      }
      materials = .blocking { (_) throws(StorageError) in shared.bytes }
    }
    var binding: [UInt8] = []
    binding.appendField("sync".utf8)
    binding.appendField("\(key.domain)".utf8)
    binding.appendField(key.name.utf8)
    sealer = ValueSealer(plan.sealing ?? Self.standard, key.serializer.form, binding: binding)
  }

  /// The sealing for values whose own place seals them.
  private static let standard = ValueSealer.Sealing(
    pattern: Envelope.Sealing(
      origin: .masterKey, algorithm: .chaCha20Poly1305, function: .hkdfSHA256, rounds: 0, salt: [],
      info: [], source: ""), hasRandomSalt: true)

  /// The bytes of an entry.
  func bytes(of entry: SyncEntry) async throws(StorageError) -> Data {
    let content = entry.content(form)
    guard let sealer else { return SyncEntry.head(isSealed: false) + content }
    let material = try await material()
    let sealed = try await Blocking.run { () throws(StorageError) in
      try sealer.seal(content, material)
    }
    return SyncEntry.head(isSealed: true) + sealed
  }

  /// Reads an entry from untrusted bytes.
  func entry(of bytes: Data) async throws(StorageError) -> SyncEntry {
    let body = try SyncEntry.body(of: bytes, isSealed: sealer != nil)
    guard let sealer else { return try SyncEntry(content: body, form) }
    let envelope = try Envelope(reading: body)
    guard envelope.sealing != nil else { throw SyncEntry.damaged }
    let known = try await known(for: envelope, sealer)
    let content = try await Blocking.run { () throws(StorageError) in
      try sealer.open(envelope, known)
    }
    return try SyncEntry(content: content, form)
  }

  private func material() async throws(StorageError) -> SecureBytes? {
    switch materials {
    case .none: nil
    case .blocking(let give): try give(true)
    case .shared(let key, _):
      try await Blocking.run { () throws(StorageError) in try key.material(isWriting: true) }
    case .provider(let call): try await call.material()
    }
  }

  /// The material that an entry is sealed under; a provider's former material, if that matches.
  private func known(
    for envelope: Envelope, _ sealer: ValueSealer
  ) async throws(StorageError) -> [SecureBytes] {
    guard case .provider(let call) = materials else {
      return try await material().map { [$0] } ?? []
    }
    let present = try await call.material()
    let isPresent = try await Blocking.run { () throws(StorageError) in
      try sealer.isUnder([present], envelope)
    }
    return isPresent ? [present] : [present] + (try await call.formerMaterial())
  }
}
