import CryptoCore
import StorageCore

/// What all targets use: nothing here is secret, and a run is to be repeatable.
enum Sample {
  static let key = SymmetricKey(data: [UInt8](repeating: 7, count: 32))
  static let root = SymmetricKey(data: [UInt8](repeating: 8, count: 32))
  static let store = StoreID([UInt8](repeating: 9, count: StoreID.byteCount))!
  /// The name of what has none: docs/file-format.md, section "Name hash".
  static let noName = NameHash([UInt8](repeating: 0, count: NameHash.byteCount))!
  static let text = "a value of some length"

  static func hkdf(
    _ key: SymmetricKey, salt: [UInt8] = [], _ label: String, count: Int = 32
  ) throws -> [UInt8] {
    let bytes = try key.withBytes { try SecureBytes(copying: $0) }
    return try KeyDerivation.hkdf(bytes, salt: salt, info: Array(label.utf8), count: count)
      .withBytes { unsafe $0.withUnsafeBytes { unsafe Array($0) } }
  }

  static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    unsafe withUnsafeBytes(of: value.bigEndian) { unsafe Array($0) }
  }

  static func field(_ bytes: [UInt8]) -> [UInt8] { bigEndian(UInt32(bytes.count)) + bytes }
}

extension StorageError.Code {
  /// What bytes of any kind may lead to: never `io`, `invalid` or `outcomeUnknown`, which blame the
  /// machine or the caller.
  static let ofBytes: Set = [damaged, unsupported, wrongKey, keyUnavailable, typeMismatch]
}

/// Calls `body`, and takes the errors that bytes may lead to.
///
/// - Returns: nil when it threw one.
func taking<Result>(
  also more: Set<StorageError.Code> = [], _ body: () throws -> Result
) throws -> Result? {
  do {
    return try body()
  } catch let error as StorageError
    where StorageError.Code.ofBytes.contains(error.code) || more.contains(error.code)
  {
    return nil
  }
}
