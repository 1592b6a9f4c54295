internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.Data

/// Converts between shared entries and the values of one key.
struct SyncSealer: Sendable {
  let form: Serializer.Form
  /// How values are sealed; nil if the key declares that its value is readable.
  private let sealing: ValueSealer.Sealing?
  private let materials: Materials
  private let domain: String
  private let name: String
  private let store: SharedStoreID

  /// The sealer of a key, by its policy, under the key that the machines share or the provider's
  /// material.
  ///
  /// - Throws: `unsupported` for a policy that binds a value to this machine or to a passcode;
  ///   `keyUnavailable` if the value is sealed and no shared key was given.
  init<Key: StorageKey>(
    _ key: Key, _ plan: ProtectionPlan, _ ofRoute: Materials, _ store: SharedStoreID
  ) throws(StorageError) {
    form = key.serializer.form
    (domain, name) = ("\(key.domain)", key.name)
    self.store = store
    guard !plan.isPlain else {
      (sealing, materials) = (nil, .none)
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
      guard let shared = store.link.key else {
        throw StorageError(
          .keyUnavailable,
          "the key's value must be sealed, but connect was called without the key that the machines share",
          key: key.name)
      }
      materials = .blocking { (_) throws(StorageError) in shared.bytes }
    }
    sealing = plan.sealing ?? Self.standard
  }

  /// The sealer of entries that are bound to the shared store.
  private func sealer(
    _ sealing: ValueSealer.Sealing, isWriting: Bool
  ) async throws(StorageError) -> ValueSealer {
    let id = try await store.find(isWriting: isWriting)
    let place = BoundPlace(
      id: { (_) throws(StorageError) in id }, advice: "Or it was copied from another shared store")
    return ValueSealer(sealing, form, binding: ValueBinding(["sync", domain], name, place))
  }

  /// The sealing for values whose own place seals them.
  private static let standard = ValueSealer.Sealing(
    pattern: Envelope.Sealing(
      origin: .masterKey, algorithm: .chaCha20Poly1305, function: .hkdfSHA256, rounds: 0, salt: [],
      info: [], source: ""), hasRandomSalt: true)

  /// The bytes of an entry.
  func bytes(of entry: SyncEntry) async throws(StorageError) -> Data {
    let content = entry.content(form)
    guard let sealing else { return SyncEntry.head(isSealed: false) + content }
    let sealer = try await sealer(sealing, isWriting: true)
    let material = try await materials.presentAsync(isWriting: true)
    let sealed = try await Blocking.run { () throws(StorageError) in
      try sealer.seal(content, material)
    }
    return SyncEntry.head(isSealed: true) + sealed
  }

  /// Reads an entry from untrusted bytes.
  func entry(of bytes: Data) async throws(StorageError) -> SyncEntry {
    let body = try SyncEntry.body(of: bytes, isSealed: sealing != nil)
    guard let sealing else { return try SyncEntry(content: body, form) }
    let envelope = try Envelope(reading: body)
    guard envelope.sealing != nil else { throw SyncEntry.damaged }
    let sealer = try await sealer(sealing, isWriting: false)
    let known = try await known(for: envelope, sealer)
    let content = try await Blocking.run { () throws(StorageError) in
      try sealer.open(envelope, known)
    }
    return try SyncEntry(content: content, form)
  }

  /// The material that an entry is sealed under; a provider's former material, if that matches.
  private func known(
    for envelope: Envelope, _ sealer: ValueSealer
  ) async throws(StorageError) -> [SecureBytes] {
    guard case .provider(let call) = materials else {
      return try await materials.presentAsync(isWriting: true).map { [$0] } ?? []
    }
    return try await call.materials(for: envelope, sealer)
  }
}
