import CryptoCore
import StorageCore

/// A delegate that can list what it holds, and nothing else besides the least.
final class ListingDelegate: StorageDelegate {
  private let base = PlainDelegate()

  func record(for name: NameHash) throws(StorageError) -> [UInt8]? { try base.record(for: name) }

  func set(_ record: [UInt8], for name: NameHash) throws(StorageError) {
    try base.set(record, for: name)
  }

  func setIfAbsent(_ record: [UInt8], for name: NameHash) throws(StorageError) -> Bool {
    try base.setIfAbsent(record, for: name)
  }

  func remove(_ name: NameHash) throws(StorageError) { try base.remove(name) }

  func names() throws(StorageError) -> [NameHash] { Array(base.records.keys) }
}
