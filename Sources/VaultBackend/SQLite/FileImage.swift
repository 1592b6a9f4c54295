internal import CSQLite
internal import StorageCore

/// The bytes of a database as a connection sees it, including its log.
///
/// SQLite made the bytes and frees them. Every access checks its bounds, so nothing outside can be
/// read.
@safe
final class FileImage {
  private let start: UnsafeMutablePointer<UInt8>
  /// How many bytes there are.
  let count: Int

  /// Takes over a result of sqlite3_serialize().
  init(_ start: UnsafeMutablePointer<UInt8>, count: Int) {
    unsafe self.start = start
    self.count = count
  }

  deinit { unsafe sqlite3_free(start) }

  /// A number of one to eight bytes, the most significant first; nil if it is out of bounds.
  func number(at offset: Int, of width: Int = 4) -> UInt64? {
    guard offset >= 0, offset <= count - width else { return nil }
    var number: UInt64 = 0
    for index in 0..<width { number = number << 8 | UInt64(unsafe start[offset + index]) }
    return number
  }

  /// Adds bytes of the image to others.
  ///
  /// - Returns: false, and nothing is added, if the range is out of bounds.
  func append(_ range: Range<Int>, to bytes: inout [UInt8]) -> Bool {
    guard range.lowerBound >= 0, range.upperBound <= count else { return false }
    unsafe bytes.append(
      contentsOf: UnsafeBufferPointer(start: start + range.lowerBound, count: range.count))
    return true
  }
}
