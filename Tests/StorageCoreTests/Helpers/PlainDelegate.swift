import CryptoCore
import StorageCore

/// A delegate of the simplest kind: it holds no header, can't list, can't compare, can't tell.
final class PlainDelegate: StorageDelegate {
  private let kept = Lock<[NameHash: [UInt8]]>([:])

  /// All raw records.
  var records: [NameHash: [UInt8]] {
    get { kept.withLock { $0 } }
    set { kept.withLock { $0 = newValue } }
  }

  func record(for name: NameHash) throws(StorageError) -> [UInt8]? { kept.withLock { $0[name] } }

  func set(_ record: [UInt8], for name: NameHash) throws(StorageError) {
    kept.withLock { $0[name] = record }
  }

  func setIfAbsent(_ record: [UInt8], for name: NameHash) throws(StorageError) -> Bool {
    kept.withLock { kept in
      guard kept[name] == nil else { return false }
      kept[name] = record
      return true
    }
  }

  func remove(_ name: NameHash) throws(StorageError) { kept.withLock { $0[name] = nil } }
}
