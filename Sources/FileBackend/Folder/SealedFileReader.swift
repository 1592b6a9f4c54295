public import CryptoCore
public import StorageCore

public import struct FoundationEssentials.Data

/// A value of a sealed folder, as it was when the reader was made; it stays readable when the value
/// is replaced or removed meanwhile.
///
///     let reader = try folder.reader(named: "backup")!
///     let head = try reader.read(0..<4096)
///     for try await chunk in reader { ... }
///
/// No byte is given out before its segment of 64 KiB was authenticated; a damaged segment leaves
/// the others readable. The reader keeps a file open as long as it lives. Any thread may use it,
/// many
/// at once; each call has a buffer of its own.
public final class SealedFileReader: Sendable, BlockingCalls {
  /// The name that the value was opened by.
  public let name: StoreKey
  /// The length of the value in bytes.
  public let size: Int
  private let source: Source

  enum Source: Sendable {
    case small(Data)
    case blob(BlobReader)
  }

  init(_ name: StoreKey, _ source: Source) {
    self.name = name
    self.source = source
    size =
      switch source {
      case .small(let value): value.count
      case .blob(let blob): blob.entry.length
      }
  }

  /// The bytes of a range, which may be the whole value.
  ///
  /// Costs reading and opening the segments that the range touches.
  ///
  /// - Parameter range: within `0..<size`.
  /// - Returns: as many bytes as the range has.
  /// - Throws: `StorageError`: `invalid` for a range outside the value, `damaged` if a byte of
  ///   these segments was altered.
  public func read(_ range: Range<Int>) throws(StorageError) -> Data {
    guard range.lowerBound >= 0, range.upperBound <= size else {
      throw StorageError(
        .invalid, "the range \(range) is outside the value, which has \(size) bytes", key: name)
    }
    switch source {
    case .small(let value):
      return Data(value[(value.startIndex + range.lowerBound)...].prefix(range.count))
    case .blob(let blob):
      do throws(StorageError) {
        return try Self.read(range, of: blob)
      } catch {
        throw error.about(name)
      }
    }
  }

  /// Lends the value to `body`, one part after another.
  ///
  /// All parts use the same memory, the size of one segment: do not use a part after `body`
  /// returns.
  ///
  /// - Parameters:
  ///   - range: within `0..<size`; the whole value unless said otherwise.
  ///   - body: is given at most 64 KiB at a time.
  /// - Throws: what `body` throws, or `StorageError`: as ``read(_:)``, or `cancelled` when the task
  ///   was.
  public func withChunks(
    of range: Range<Int>? = nil, _ body: (RawSpan) throws -> Void
  ) throws {
    let range = range ?? 0..<size
    guard range.lowerBound >= 0, range.upperBound <= size else {
      throw StorageError(
        .invalid, "the range \(range) is outside the value, which has \(size) bytes", key: name)
    }
    switch source {
    case .small(let value): try body(value.bytes.extracting(range))
    case .blob(let blob): try lend(range, of: blob, body)
    }
  }

  /// How many segments the value has; a small value has one.
  var segmentCount: Int {
    switch source {
    case .small: size == 0 ? 0 : 1
    case .blob(let blob): blob.segmentCount
    }
  }

  /// The blob, where there is one.
  var blob: BlobReader? {
    if case .blob(let blob) = source { blob } else { nil }
  }

  private func lend(
    _ range: Range<Int>, of blob: BlobReader, _ body: (RawSpan) throws -> Void
  ) throws {
    try blob.withBuffers { buffers in
      for number in Self.segments(of: range) {
        try Self.checkCancellation(name)
        let bytes = blob.bytes(ofSegment: number)
        do throws(StorageError) {
          try blob.open(number, in: buffers)
        } catch {
          throw error.about(name)
        }
        let wanted = bytes.clamped(to: range)
        let start = wanted.lowerBound - bytes.lowerBound
        try buffers.plain.read(start..<start + wanted.count) { try body($0) }
      }
    }
  }

  private static func read(
    _ range: Range<Int>, of blob: BlobReader
  ) throws(StorageError) -> Data {
    var failure: StorageError?
    var data = Data(count: range.count)
    unsafe data.withUnsafeMutableBytes { output in
      do throws(StorageError) {
        try blob.withBuffers { (buffers) throws(StorageError) in
          for number in segments(of: range) {
            try checkCancellation(nil)
            let wanted = blob.bytes(ofSegment: number).clamped(to: range)
            let target = wanted.lowerBound - range.lowerBound
            let part = unsafe UnsafeMutableRawBufferPointer(
              rebasing: output[target..<target + wanted.count])
            try unsafe copy(wanted, ofSegment: number, of: blob, by: buffers, to: part)
          }
        }
      } catch {
        // On failure no part of the range is given out or stays in memory.
        unsafe Wipe.buffer(output)
        failure = error
      }
    }
    if let failure { throw failure }
    return data
  }

  /// Opens a segment, directly into its place if all of it is wanted.
  private static func copy(
    _ wanted: Range<Int>, ofSegment number: Int, of blob: BlobReader, by buffers: SegmentBuffers,
    to output: UnsafeMutableRawBufferPointer
  ) throws(StorageError) {
    let bytes = blob.bytes(ofSegment: number)
    guard wanted != bytes else {
      var span = unsafe MutableRawSpan(_unsafeBytes: output)
      return try blob.open(segment: number, by: buffers.sealed, into: &span)
    }
    try blob.open(number, in: buffers)
    let start = wanted.lowerBound - bytes.lowerBound
    buffers.plain.read(start..<start + wanted.count) { source in
      unsafe source.withUnsafeBytes { unsafe output.copyMemory(from: $0) }
    }
  }

  /// The segments that a range touches.
  private static func segments(of range: Range<Int>) -> Range<Int> {
    guard !range.isEmpty else { return 0..<0 }
    let size = SegmentLayout.segmentSize
    return range.lowerBound / size..<(range.upperBound - 1) / size + 1
  }

  static func checkCancellation(_ name: StoreKey?) throws(StorageError) {
    guard Task.isCancelled else { return }
    throw StorageError(.cancelled, "the task was cancelled", key: name)
  }
}

extension SealedFileReader: AsyncSequence {
  /// A part of the value, of at most 64 KiB.
  public typealias Element = Data
  /// Why a part can't be read.
  public typealias Failure = any Error

  /// Begins at the first byte.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: self) }

  /// Goes through a value, part after part.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: SealedFileReader
    var offset = 0

    /// The next part, or nil at the end; read on a thread that may block.
    ///
    /// - Throws: `StorageError`: as ``SealedFileReader/read(_:)``, or `cancelled`.
    public mutating func next() async throws -> Data? {
      guard offset < reader.size else { return nil }
      let range = offset..<Swift.min(offset + SegmentLayout.segmentSize, reader.size)
      let data = try await reader.async { try $0.read(range) }
      offset = range.upperBound
      return data
    }
  }
}

extension SealedFileReader: RedactedDescription {
  /// The name and the size, without any bytes of the value.
  public var description: String { "SealedFileReader(\"\(name)\", \(size) bytes)" }
}

@available(*, unavailable)
extension SealedFileReader.Iterator: Sendable {}
