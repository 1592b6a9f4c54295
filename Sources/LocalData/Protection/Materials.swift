internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.Data

/// The source of the material for a key's values.
enum Materials: Sendable {
  /// No material is needed: the place seals, or the value is plain.
  case none
  /// The closure returns the material, on a thread that may block.
  case blocking(@Sendable (_ isWriting: Bool) throws(StorageError) -> SecureBytes?)
  /// A key that many values share gives the material; the address is the value's.
  case shared(any SharedKey, PlaceAddress)
  /// A provider returns the material.
  case provider(ProviderCall)

  /// The present material, on a thread that may block.
  ///
  /// - Throws: `unsupported` if a provider must be asked.
  func present(isWriting: Bool) throws(StorageError) -> SecureBytes? {
    switch self {
    case .none: return nil
    case .blocking(let give): return try give(isWriting)
    case .shared(let key, _): return try key.material(isWriting: isWriting)
    case .provider(let call):
      throw StorageError(
        .unsupported,
        "the key's material comes from a provider, which only async calls can ask; use get and set of the "
          + "router, or loadAsync and saveAsync of the property", key: call.name)
    }
  }

  /// The present material, from a provider if there is one.
  func presentAsync(isWriting: Bool) async throws(StorageError) -> SecureBytes? {
    if case .provider(let call) = self { return try await call.material() }
    return try await Blocking.run { () throws(StorageError) in
      try self.present(isWriting: isWriting)
    }
  }

  /// Runs `body`, which seals and writes; a shared key is not replaced meanwhile.
  func sharing<Result>(
    _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    guard case .shared(let key, _) = self else { return try body() }
    return try key.lock.sharing(body)
  }
}

/// A call of a provider of key material, with a deadline.
struct ProviderCall: Sendable {
  let provider: any KeyMaterialProviding
  let name: String
  let address: PlaceAddress
  let source: KeyMaterialSource
  let deadline: Duration

  /// The present material.
  func material() async throws(StorageError) -> SecureBytes {
    let data = try await run { [provider, name] in
      [try await provider.keyMaterial(for: name)]
    }
    guard let material = try bytes(of: data).first, material.count > 0 else {
      throw StorageError(
        .keyUnavailable, "the provider \(source.id) returned no material", key: name)
    }
    return material
  }

  /// The former material.
  func formerMaterial() async throws(StorageError) -> [SecureBytes] {
    try bytes(
      of: await run { [provider, name] in try await provider.formerKeyMaterial(for: name) })
  }

  /// The present material, followed by the former material if a stored value is not under the
  /// present one.
  func materials(
    for envelope: Envelope, _ sealer: ValueSealer
  ) async throws(StorageError) -> [SecureBytes] {
    let present = try await material()
    let isPresent = try await Blocking.run { () throws(StorageError) in
      try sealer.isUnder([present], envelope)
    }
    return isPresent ? [present] : [present] + (try await formerMaterial())
  }

  private func bytes(of data: [Data]) throws(StorageError) -> [SecureBytes] {
    try cryptography(key: name) { () throws(CryptoError) in
      var bytes: [SecureBytes] = []
      for each in data { bytes.append(try SecureBytes(copying: each.bytes)) }
      return bytes
    }
  }

  /// Runs `body` on a thread of its own, which it may block, with the deadline.
  private func run(
    _ body: @escaping @Sendable () async throws -> [Data]
  ) async throws(StorageError) -> [Data] {
    let asking = AskedMaterial(address: address)
    do {
      try asking.check("the provider \(source.id)")
      return try await asking.during { [deadline] in
        try await TimeLimit.run(deadline, body)
      }
    } catch let error as StorageError {
      throw error.about(name)
    } catch is CancellationError {
      throw StorageError(.cancelled, "the task was cancelled", key: name)
    } catch {
      // The error's text may contain a secret.
      throw StorageError(
        .keyUnavailable,
        "the provider \(source.id) failed: it threw \(type(of: error))", key: name)
    }
  }
}
