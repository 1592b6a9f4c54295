internal import CryptoCore

/// A plaintext payload, wiped when the last reference to it is released.
///
/// Not SecureBytes, which allocates its own memory pages for anything longer than a key.
final class PlainPayload {
  /// Do not store a copy: a second owner of the array would keep its bytes alive.
  private(set) var bytes: [UInt8]

  /// Creates the payload of a name, with the value that `append` adds.
  init(
    name: String, _ append: (inout [UInt8]) throws(StorageError) -> Void
  ) throws(StorageError) {
    bytes = try Payload.head(name: name)
    try append(&bytes)
    guard bytes.count <= Payload.valueLimit else { throw Payload.tooLarge }
  }

  /// Copies an opened payload.
  init(_ payload: RawSpan) { bytes = payload.copied() }

  deinit { Wipe.bytes(&bytes) }

  /// Lends the bytes to `body`.
  func lend<Result>(
    _ body: (RawSpan) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    let lent = bytes
    return try unsafe body(lent.span.bytes)
  }

  /// Whether `payload` has the same bytes.
  func equals(_ payload: RawSpan) -> Bool {
    unsafe payload.withUnsafeBytes { unsafe $0.elementsEqual(bytes) }
  }
}

@available(*, unavailable)
extension PlainPayload: Sendable {}

extension PlainPayload: RedactedDescription {}
