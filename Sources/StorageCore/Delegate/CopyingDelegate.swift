package import CryptoCore

/// A delegate whose records readers copy out of its memory, on many cores at once.
///
/// A record that ``KeysetDelegate/lookup(_:)`` returns is a counted reference, and the readers of one
/// record would take turns with its count.
package protocol CopyingDelegate: KeysetDelegate {
  /// Copies the record under `name` into a buffer, if memory has it and it fits.
  ///
  /// - Returns: nil when `lookup` has to be asked.
  func copyRecord(
    _ name: NameHash, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> RecordCopy?
}

/// What was copied out of a delegate's memory.
@usableFromInline
package struct RecordCopy: Sendable {
  /// The length of the record; nil when there is none under the name.
  @usableFromInline package let count: Int?
  /// The version of the header that is current with it.
  @usableFromInline package let headerVersion: UInt64

  /// A copy of `record`, or nil when the buffer is too short for it.
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

  /// Says that there is no record.
  @inlinable @inline(__always)
  package init(absentUnder headerVersion: UInt64) {
    count = nil
    self.headerVersion = headerVersion
  }
}
