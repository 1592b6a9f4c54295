public import struct Foundation.Data

/// Supplies key material from outside of the program: a token, a server, a secret manager.
///
/// Promise: what is given for a name stays the same for as long as there are values under it. Material
/// that changed is noticed: reading is the error `wrongKey`, writing over the older value is refused with
/// the same, and nothing is lost. A provider that has replaced its key gives the older ones with
/// ``formerKeyMaterial(for:)``.
///
/// Calls come from any number of tasks at once, each on a thread of its own, so a call may block. One
/// that takes longer than ``EncryptionConfiguration/keyMaterialDeadline`` is the error `timedOut` for who
/// waits.
public protocol KeyMaterialProviding: Sendable {
  /// The material for the key of a name: 32 random bytes for HKDF, anything but empty for PBKDF2.
  ///
  /// - Throws: anything. A `StorageError` is passed on; of another error only the type is told, since
  ///   its text may hold a secret.
  func keyMaterial(for keyName: String) async throws -> Data

  /// Material that the source gave before, for values that are under it still; none by default.
  ///
  /// Asked for when a value is under other material than the present one. The next write of the value
  /// is under the present one.
  ///
  /// - Throws: as ``keyMaterial(for:)``.
  func formerKeyMaterial(for keyName: String) async throws -> [Data]
}

extension KeyMaterialProviding {
  /// None.
  public func formerKeyMaterial(for keyName: String) async throws -> [Data] { [] }
}
