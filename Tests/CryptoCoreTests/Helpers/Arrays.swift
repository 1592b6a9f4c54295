import CryptoCore
import Foundation

// The API lends and takes spans; tests are easier to read with arrays.

extension KeyedHash {
  func hash(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
    try unsafe hash(message.span.bytes).bytes
  }
}

extension DataKey {
  func seal(_ plaintext: [UInt8], for context: RecordContext) throws(CryptoError) -> [UInt8] {
    try unsafe seal(plaintext.span.bytes, for: context)
  }

  func open(_ record: [UInt8], for context: RecordContext) throws(CryptoError) -> [UInt8] {
    [UInt8](try unsafe openedData(record.span.bytes, for: context))
  }

  /// Lends the plaintext to `body`.
  func lend(
    _ record: [UInt8], for context: RecordContext, to body: ([UInt8]) -> Void
  ) throws(CryptoError) {
    try unsafe withOpened(record.span.bytes, for: context) { span in
      body(unsafe span.withUnsafeBytes { unsafe [UInt8]($0) })
    }
  }

  func seal(
    _ plaintext: [UInt8], for context: RecordContext, into output: inout [UInt8]
  ) throws(CryptoError) {
    var span = output.mutableSpan
    var bytes = unsafe span.mutableBytes
    try unsafe seal(plaintext.span.bytes, for: context, into: &bytes)
  }

  func open(
    _ record: [UInt8], for context: RecordContext, into output: inout [UInt8]
  ) throws(CryptoError) {
    var span = output.mutableSpan
    var bytes = unsafe span.mutableBytes
    try unsafe open(record.span.bytes, for: context, into: &bytes)
  }
}
