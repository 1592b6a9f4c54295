package import CryptoCore

/// A delegate that lets readers on many cores copy records out of its memory at the same time.
///
/// ``KeysetDelegate/lookup(_:)`` returns a counted reference, and readers of the same record would wait for
/// each other to change the reference count.
package protocol CopyingDelegate: KeysetDelegate {
  /// Copies the record under `name` into a buffer, if the record is in memory and fits.
  ///
  /// - Returns: nil when the caller has to call `lookup`.
  func copyRecord(
    _ name: NameHash, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> RecordCopy?
}

/// The result of copying a record out of a delegate's memory.
@usableFromInline
package struct RecordCopy: Sendable {
  /// The length of the record; nil when there is no record under the name.
  @usableFromInline package let count: Int?
  /// The version of the header that is current with the record.
  @usableFromInline package let headerVersion: UInt64

  /// Copies `record` into `buffer`; nil when the buffer is too short.
  @inlinable @inline(__always)
  package init?(
    of record: borrowing [UInt8], into buffer: UnsafeMutableRawBufferPointer, headerVersion: UInt64
  ) {
    let count = record.count
    guard count <= buffer.count else { return nil }
    unsafe record.span.withUnsafeBytes { unsafe buffer.copyMemory(from: $0) }
    self.count = count
    self.headerVersion = headerVersion
  }

  /// Makes the result for a missing record.
  @inlinable @inline(__always)
  package init(absentUnder headerVersion: UInt64) {
    count = nil
    self.headerVersion = headerVersion
  }
}
