package import CryptoCore
package import StorageCore

/// The storage error that `body` throws; nil when it throws none, or another error.
package func thrown(_ body: () throws -> Void) -> StorageError? {
  do {
    try body()
    return nil
  } catch {
    return error as? StorageError
  }
}

/// The code of the storage error that `body` throws.
package func code(_ body: () throws -> Void) -> StorageError.Code? { thrown(body)?.code }

extension SecureBytes {
  /// The bytes of a text.
  package static func of(_ text: String) throws(StorageError) -> SecureBytes {
    do throws(CryptoError) { return try SecureBytes(Array(text.utf8)) } catch {
      throw StorageError(error)
    }
  }
}
