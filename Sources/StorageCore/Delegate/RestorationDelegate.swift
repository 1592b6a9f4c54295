/// A delegate that knows whether someone with the keys has restored an earlier state of its place.
package protocol RestorationDelegate: KeysetDelegate {
  /// The last restoration or repair by this process; nil when there was none.
  ///
  /// `number` counts from 1; `root` is the check value of the restored root key.
  var restoration: (number: Int, root: [UInt8])? { get }

  /// Whether another process has restored the current state of the place.
  ///
  /// If so, the delegate also counts this as the last restoration of this process.
  ///
  /// - Parameters:
  ///   - keys: the keys of the current manifest.
  ///   - headerVersion: the version of the header that holds `keys`.
  /// - Returns: whether another process has restored the current state.
  /// - Throws: `StorageError` when the delegate can't tell.
  func wasRestored(_ keys: ManifestKeys, headerVersion: UInt64) throws(StorageError) -> Bool
}
