/// The result of copying a record out of a delegate's memory.
public struct RecordCopy: Sendable {
  /// The length of the record; nil when there is no record under the name.
  public let count: Int?
  /// The version of the header that is current with the record.
  public let headerVersion: UInt64

  /// Copies `record` into `buffer`; nil when the buffer is too short.
  @inlinable @inline(__always)
  public init?(
    of record: borrowing [UInt8], into buffer: UnsafeMutableRawBufferPointer, headerVersion: UInt64
  ) {
    let count = record.count
    guard count <= buffer.count else { return nil }
    unsafe record.span.withUnsafeBytes { unsafe buffer.copyMemory(from: $0) }
    self.count = count
    self.headerVersion = headerVersion
  }

  /// Copies `record` into `buffer`; nil when the buffer is too short.
  @inlinable @inline(__always)
  package init?(
    of record: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer,
    headerVersion: UInt64
  ) {
    guard record.count <= buffer.count else { return nil }
    unsafe buffer.copyMemory(from: record)
    count = record.count
    self.headerVersion = headerVersion
  }

  /// Makes the result for a missing record.
  @inlinable @inline(__always)
  public init(absentUnder headerVersion: UInt64) {
    count = nil
    self.headerVersion = headerVersion
  }
}
