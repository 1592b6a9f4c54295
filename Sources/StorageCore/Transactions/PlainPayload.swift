internal import CryptoCore

/// A payload in the clear, wiped with the last reference to it.
///
/// Not SecureBytes, which has pages of its own for anything longer than a key.
final class PlainPayload {
  /// Not to be kept: a second owner of the array would keep its bytes.
  private(set) var bytes: [UInt8]

  /// The payload of a name, with the value that `append` adds.
  init(
    name: String, _ append: (inout [UInt8]) throws(StorageError) -> Void
  ) throws(StorageError) {
    bytes = try Payload.head(name: name)
    try append(&bytes)
    guard bytes.count <= Payload.valueLimit else { throw Payload.tooLarge }
  }

  /// A copy of a payload that was opened.
  init(_ payload: RawSpan) { bytes = payload.copied() }

  deinit { Wipe.bytes(&bytes) }

  /// Lends the bytes to `body`.
  func lend<Result>(
    _ body: (RawSpan) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    let lent = bytes
    return try unsafe body(lent.span.bytes)
  }

  /// Whether the bytes are the same.
  func equals(_ payload: RawSpan) -> Bool {
    unsafe payload.withUnsafeBytes { unsafe $0.elementsEqual(bytes) }
  }
}

@available(*, unavailable)
extension PlainPayload: Sendable {}

extension PlainPayload: RedactedDescription {}
