internal import CryptoCore
internal import StorageCore

internal import struct FoundationEssentials.Data

/// The steps between stored bytes and a value, for copying values from one place to another.
extension Route {
  /// The serialized bytes of stored bytes, opened if they are sealed.
  func serialized(_ stored: Data) async throws(StorageError) -> Data {
    guard let sealer else { return stored }
    do throws(StorageError) {
      let envelope = try Envelope(reading: stored)
      let found: [SecureBytes]
      if case .provider(let call) = materials {
        found = try await call.materials(for: envelope, sealer)
      } else {
        found = try await Blocking.run { () throws(StorageError) in
          try self.openers(of: stored, envelope, sealer)
        }
      }
      return try await Blocking.run { () throws(StorageError) in try sealer.open(envelope, found) }
    } catch {
      throw error.about(name)
    }
  }

  /// The bytes to store for serialized bytes.
  func sealed(_ serialized: Data) async throws(StorageError) -> Data {
    guard let sealer else { return serialized }
    do throws(StorageError) {
      // `exchange` refuses the bytes if a shared key is replaced before they are stored.
      let material = try await materials.presentAsync(isWriting: true)
      return try await Blocking.run { () throws(StorageError) in
        try sealer.seal(serialized, material)
      }
    } catch {
      throw error.about(name)
    }
  }

  /// Refuses serialized bytes that are not a value of the key.
  func check(_ serialized: Data) throws(StorageError) {
    do throws(StorageError) {
      _ = try serializer.decode(Value.self, serialized)
    } catch {
      throw error.about(name)
    }
  }
}
