internal import CryptoCore
public import StorageCore

public import struct FoundationEssentials.Data

/// How a property encodes its value as the bytes of a file.
public struct SealedFileCoding<Value>: @unchecked Sendable {
  // Unchecked, because the closures below capture only a Sendable coding and the type of the value.
  let encode: (Value) throws(StorageError) -> Data
  let decode: (Data) throws(StorageError) -> Value
}

extension SealedFileCoding where Value == Data {
  /// Stores the bytes unchanged.
  public static let bytes = SealedFileCoding(
    encode: { (value) throws(StorageError) in value },
    decode: { (bytes) throws(StorageError) in bytes })
}

extension SealedFileCoding where Value == String {
  /// Stores text as UTF-8; a file that is not UTF-8 is the error `typeMismatch`.
  public static let text = SealedFileCoding(
    encode: { (value) throws(StorageError) in Data(value.utf8) },
    decode: { (bytes) throws(StorageError) in
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw StorageError(.typeMismatch, "the file is not UTF-8 text; read it as Data")
      }
      return text
    })
}

extension SealedFileCoding where Value: Codable {
  /// Stores a `Codable` value; a file that the coding can't read is the error `typeMismatch`.
  ///
  /// The file does not record which coding was used.
  public static func codable(_ coding: CodableCoding) -> SealedFileCoding {
    SealedFileCoding(
      encode: { (value) throws(StorageError) in
        do {
          return try coding.encode(value)
        } catch {
          // The error itself may quote the value.
          throw StorageError(
            .invalid, "the \(Value.self) can't be encoded: \(CodableCoding.reason(error))")
        }
      },
      decode: { (bytes) throws(StorageError) in
        do {
          if let value = try coding.decode(Value.self, bytes) as? Value { return value }
        } catch {
          throw StorageError(
            .typeMismatch,
            "the file doesn't decode as \(Value.self): \(CodableCoding.reason(error))")
        }
        throw StorageError(.typeMismatch, "the coding did not give a \(Value.self)")
      })
  }
}
