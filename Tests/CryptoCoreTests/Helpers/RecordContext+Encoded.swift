@testable import CryptoCore

extension RecordContext {
  /// The associated data under a header.
  func encoded(_ header: RecordHeader) throws(CryptoError) -> [UInt8] {
    try unsafe withAssociatedData(header) { unsafe [UInt8]($0) }
  }
}
