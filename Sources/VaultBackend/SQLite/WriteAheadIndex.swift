internal import CSQLite

/// The index of a write-ahead log, in memory that all processes which use the file share.
///
/// Its first 48 bytes change with every commit, and not before the commit is durable
/// (https://sqlite.org/walformat.html, "The WAL-Index Header"): iVersion, unused, iChange, flags
/// and page size, mxFrame, nPage, two checksums of the last frame, two salts, two checksums of
/// these. Comparing them with the last state that was seen tells whether anybody has written since,
/// at the price of six loads. SQLite's own mapping is used. A descriptor of ours could not replace
/// it: closing one releases all of the process's locks (fcntl(2)).
@safe
struct WriteAheadIndex: @unchecked Sendable {
  // The pointer never changes, and nothing is written through it. Other processes write the memory
  // that it points to: a read during a write sees a value that differs from the earlier one. The
  // memory stays mapped as long as the connection that gave it.
  private let start: UnsafeRawPointer

  /// A state of the file.
  struct State: Hashable, Sendable {
    fileprivate let words: SIMD8<UInt64>

    /// The count of commits by all processes.
    var changes: UInt32 { UInt32(truncatingIfNeeded: words[1]) }

    /// How many frames the log has.
    var frames: UInt32 { UInt32(truncatingIfNeeded: words[2]) }

    /// The salts, which change whenever the log begins anew.
    var salts: UInt64 { words[4] }

    /// The size in bytes of a log with these frames: a header of 32, and 24 before each page.
    var logSize: Int {
      // https://sqlite.org/walformat.html: 65,536 is written as 1.
      let field = UInt16(truncatingIfNeeded: words[1] >> 48)
      return 32 + Int(frames) * (24 + (field == 1 ? 65536 : Int(field)))
    }
  }

  /// The index of an open file; nil when the file has no mapped index.
  ///
  /// https://sqlite.org/c3ref/io_methods.html, xShmMap: region 0 of 32 KiB, without creating it.
  init?(_ file: UnsafeMutablePointer<sqlite3_file>) {
    var region: UnsafeMutableRawPointer?
    guard let methods = unsafe file.pointee.pMethods, unsafe methods.pointee.iVersion >= 2,
      let map = unsafe methods.pointee.xShmMap,
      // SQLITE_READONLY means that the region can be read but not written.
      case let code = unsafe map(file, 0, 32768, 0, &region),
      code == SQLITE_OK || code == SQLITE_READONLY, let region = unsafe region
    else { return nil }
    unsafe start = UnsafeRawPointer(region)
  }

  /// Whether the state is still the same.
  ///
  /// It does not use `==`, which compares element after element: this is part of every read.
  @inline(__always)
  func isStill(_ state: State) -> Bool {
    var difference: UInt64 = 0
    for index in 0..<6 {
      difference |=
        unsafe start.load(fromByteOffset: index * 8, as: UInt64.self) ^ state.words[index]
    }
    return difference == 0
  }

  /// The present state.
  @inline(__always)
  var state: State {
    var words = SIMD8<UInt64>()
    for index in 0..<6 {
      words[index] = unsafe start.load(fromByteOffset: index * 8, as: UInt64.self)
    }
    return State(words: words)
  }
}
