/// The first six bytes of a record: version, algorithm, key id.
public struct RecordHeader: Hashable, Sendable {
  /// The version that this package writes and reads.
  package static let currentVersion: UInt8 = 1
  static let byteCount = 6

  /// The algorithm that sealed the record.
  public let algorithm: AEADAlgorithm
  /// The data key that sealed the record.
  public let keyID: UInt32

  init(algorithm: AEADAlgorithm, keyID: UInt32) {
    self.algorithm = algorithm
    self.keyID = keyID
  }

  /// Reads the header of a record.
  ///
  /// - Throws: `CryptoError`: `unsupported` for a version or algorithm of another release,
  ///   `malformed` for bytes too short to be a record.
  @inline(__always)
  public init(reading record: RawSpan) throws(CryptoError) {
    guard record.byteCount >= Self.byteCount else {
      throw CryptoError(.malformed, "the record is cut short")
    }
    let version = unsafe record.unsafeLoad(as: UInt8.self)
    guard version == Self.currentVersion else {
      throw CryptoError(.unsupported, "this release can't read record version \(version)")
    }
    let code = unsafe record.unsafeLoad(fromByteOffset: 1, as: UInt8.self)
    guard let algorithm = AEADAlgorithm(code: code) else {
      throw CryptoError(.unsupported, "this release does not know record algorithm \(code)")
    }
    let keyID = unsafe record.unsafeLoadUnaligned(fromByteOffset: 2, as: UInt32.self)
    self.init(algorithm: algorithm, keyID: UInt32(bigEndian: keyID))
    guard record.byteCount >= DataKey.overhead(of: algorithm) else {
      throw CryptoError(.malformed, "the record is cut short")
    }
  }

  /// The whole header as one number, which is at least 2^40.
  @inline(__always)
  var code: UInt64 {
    UInt64(Self.currentVersion) << 40 | UInt64(algorithm.rawValue) << 32 | UInt64(keyID)
  }

  @inline(__always)
  func write(to start: UnsafeMutableRawPointer) {
    unsafe start.storeBytes(of: Self.currentVersion, as: UInt8.self)
    unsafe start.storeBytes(of: algorithm.rawValue, toByteOffset: 1, as: UInt8.self)
    unsafe start.storeBytes(of: keyID.bigEndian, toByteOffset: 2, as: UInt32.self)
  }
}
