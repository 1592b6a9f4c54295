package import StorageCore

package import struct Foundation.Data

/// Where the bytes of one key are.
///
/// Calls block. Nil is absent and only that.
package protocol ValuePlace: Sendable {
  /// The bytes, or nil when there are none.
  func read() throws(StorageError) -> Data?
  /// Replaces the bytes, durably, whole or not at all.
  func write(_ bytes: Data) throws(StorageError)
  /// Removes the bytes, if there are any.
  func remove() throws(StorageError)
  /// Whether there are any, also such as can't be read.
  func contains() throws(StorageError) -> Bool
  /// Replaces the bytes, or removes them when `new` is nil, if they are `old`, in one atomic step
  /// across threads and processes.
  ///
  /// - Returns: whether they were.
  func replace(_ old: Data?, by new: Data?) throws(StorageError) -> Bool
  /// Calls `onChange` after others may have changed the bytes, from a thread that may block.
  ///
  /// - Returns: what keeps the observation alive.
  func observe(_ onChange: @escaping @Sendable () -> Void) -> ChangeObservation
}
