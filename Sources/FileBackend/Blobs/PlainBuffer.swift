internal import CryptoCore

/// A buffer that is reused for one segment after another, and wiped at the end if it is secret.
///
/// For one thread at a time.
@safe
final class PlainBuffer {
  private let buffer: UnsafeMutableRawBufferPointer
  private let isSecret: Bool

  init(count: Int, isSecret: Bool = true) {
    self.isSecret = isSecret
    unsafe buffer = .allocate(byteCount: count, alignment: 64)
  }

  deinit {
    if isSecret { unsafe Wipe.buffer(buffer) }
    unsafe buffer.deallocate()
  }

  /// Lends bytes to be read.
  func read<Result, Failure: Error>(
    _ range: Range<Int>, _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: buffer[range])))
  }

  /// Lends bytes to be written.
  func write<Result, Failure: Error>(
    _ range: Range<Int>, _ body: (inout MutableRawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var span = unsafe MutableRawSpan(
      _unsafeBytes: UnsafeMutableRawBufferPointer(rebasing: buffer[range]))
    return try body(&span)
  }

  /// Copies bytes to a place.
  func copy(_ bytes: RawSpan, to offset: Int) {
    unsafe bytes.withUnsafeBytes { source in
      unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[offset...]).copyMemory(from: source)
    }
  }
}

/// Buffers for reading the segments of a blob: one sealed segment, and one opened.
///
/// For one thread at a time.
final class SegmentBuffers: @unchecked Sendable {
  // Lent to one thread at a time by `BlobReader.withBuffers`.
  let sealed = PlainBuffer(count: SegmentLayout.sealedSize, isSecret: false)
  let plain = PlainBuffer(count: SegmentLayout.segmentSize)
}
