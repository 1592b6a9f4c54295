package import StorageCore

package import struct FoundationEssentials.Data

/// The place of one key's bytes.
///
/// Calls block. Nil means absent and only that.
package protocol ValuePlace: Sendable {
  /// The bytes, or nil if there are none.
  func read() throws(StorageError) -> Data?
  /// The bytes if they are in memory, without blocking; nil when ``read()`` has to look.
  func readAtOnce() -> Data?
  /// Replaces the bytes durably, completely or not at all.
  func write(_ bytes: Data) throws(StorageError)
  /// Removes the bytes, if there are any.
  func remove() throws(StorageError)
  /// Whether there are bytes, even if they can't be read.
  func contains() throws(StorageError) -> Bool
  /// Replaces the bytes if they equal `old`, in one atomic step across threads and processes.
  ///
  /// If `new` is nil, the bytes are removed.
  ///
  /// - Returns: whether the bytes were `old`.
  func replace(_ old: Data?, by new: Data?) throws(StorageError) -> Bool
  /// Calls `onChange` after other writers may have changed the bytes, on a thread that may block.
  ///
  /// - Returns: the observation, which lasts until it is released.
  func observe(_ onChange: @escaping @Sendable () -> Void) -> ChangeObservation
}

extension ValuePlace {
  package func readAtOnce() -> Data? { nil }
}
