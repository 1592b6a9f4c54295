public import struct FoundationEssentials.Data

/// Supplies key material from outside the program: from a token, a server or a secret manager.
///
/// An implementation promises: the material for a name stays the same as long as values are sealed
/// under it. The router detects changed material: reading throws `wrongKey`, replacing the older
/// value is refused with `wrongKey`, and nothing is lost. A provider that replaced its key returns
/// the older keys from ``formerKeyMaterial(for:)``.
///
/// Any number of tasks may call at once, each on its own thread, so a call may block. If a call
/// takes longer than ``EncryptionConfiguration/keyMaterialDeadline``, the caller gets `timedOut`.
public protocol KeyMaterialProviding: Sendable {
  /// The material for the key of that name: 32 random bytes for HKDF, a passphrase for PBKDF2.
  ///
  /// New values need at least 16 bytes for HKDF, and 8 for PBKDF2: less is the error `invalid`.
  ///
  /// - Throws: anything. A `StorageError` is passed on; of any other error only the type is
  ///   reported, since its text may contain a secret.
  func keyMaterial(for keyName: String) async throws -> Data

  /// Earlier material, for values that are still sealed under it; none by default.
  ///
  /// Called if a value is under other material than the present one. The next write seals the value
  /// under the present material.
  ///
  /// - Throws: as ``keyMaterial(for:)``.
  func formerKeyMaterial(for keyName: String) async throws -> [Data]
}

extension KeyMaterialProviding {
  /// Returns no material.
  public func formerKeyMaterial(for keyName: String) async throws -> [Data] { [] }
}
