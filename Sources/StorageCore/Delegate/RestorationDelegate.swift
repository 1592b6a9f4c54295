/// A delegate that knows when an earlier state of its place was chosen by somebody with the keys.
package protocol RestorationDelegate: KeysetDelegate {
  /// The last restoration or repair by this process, numbered from 1, and the check value of the root key
  /// that is in place since; nil when there was none.
  var restoration: (number: Int, root: [UInt8])? { get }

  /// Whether another process has restored what is in place; then it is this process's last restoration as
  /// well.
  ///
  /// - Parameters:
  ///   - keys: those of the manifest that is in place.
  ///   - headerVersion: of the header that they are of.
  /// - Returns: whether it was.
  /// - Throws: `StorageError` when that can't be known.
  func wasRestored(_ keys: ManifestKeys, headerVersion: UInt64) throws(StorageError) -> Bool
}
