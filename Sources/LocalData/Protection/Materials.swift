internal import CryptoCore
internal import StorageCore

internal import struct Foundation.Data

/// Where the material for a key's values comes from.
enum Materials: Sendable {
  /// None is needed: the place seals, or the value is plain.
  case none
  /// It is asked for on a thread that may block.
  case blocking(@Sendable (_ isWriting: Bool) throws(StorageError) -> SecureBytes?)
  /// A provider is asked.
  case provider(ProviderCall)
}

/// A call of a provider of key material, with a deadline.
struct ProviderCall: Sendable {
  let provider: any KeyMaterialProviding
  let name: String
  let source: KeyMaterialSource
  let deadline: Duration

  /// The present material.
  func material() async throws(StorageError) -> SecureBytes {
    let data = try await run { [provider, name] in
      [try await provider.keyMaterial(for: name)]
    }
    guard let material = try bytes(of: data).first, material.count > 0 else {
      throw StorageError(
        .keyUnavailable, "the provider \(source.id) gave no material", key: name)
    }
    return material
  }

  /// The material of before.
  func formerMaterial() async throws(StorageError) -> [SecureBytes] {
    try bytes(
      of: await run { [provider, name] in try await provider.formerKeyMaterial(for: name) })
  }

  private func bytes(of data: [Data]) throws(StorageError) -> [SecureBytes] {
    try cryptography(key: name) { () throws(CryptoError) in
      var bytes: [SecureBytes] = []
      for each in data { bytes.append(try SecureBytes(copying: each.bytes)) }
      return bytes
    }
  }

  /// Runs `body` on a thread of its own, which it may block, until the deadline.
  private func run(
    _ body: @escaping @Sendable () async throws -> [Data]
  ) async throws(StorageError) -> [Data] {
    do {
      return try await Deadline.run(within: deadline, body)
    } catch let error as StorageError {
      throw error.about(name)
    } catch is CancellationError {
      throw StorageError(.cancelled, "the caller's task was cancelled", key: name)
    } catch {
      // Its text may hold a secret.
      throw StorageError(
        .keyUnavailable,
        "the provider \(source.id) gave no key material: \(type(of: error)) was thrown", key: name)
    }
  }
}
