internal import DefaultsBackend
internal import StorageCore

internal import struct FoundationEssentials.Data

/// An entry of a readable property list.
struct PlainSuitePlace: ValuePlace {
  let folder: SharedFolder
  /// The name of the property list.
  let file: String
  /// The name of the entry, in ASCII.
  let entry: String

  func read() throws(StorageError) -> Data? { try entries()[entry].map { Data($0) } }

  func write(_ bytes: Data) throws(StorageError) { try change { _ in .some(bytes) } }

  func remove() throws(StorageError) {
    guard try contains() else { return }
    try change { _ in .some(nil) }
  }

  func contains() throws(StorageError) -> Bool { try entries()[entry] != nil }

  func replace(_ old: Data?, by new: Data?) throws(StorageError) -> Bool {
    try change { $0 == old ? .some(new) : nil }
  }

  func observe(_ onChange: @escaping @Sendable () -> Void) -> ChangeObservation {
    folder.observe(onChange)
  }

  private func entries() throws(StorageError) -> [String: [UInt8]] {
    try entries(of: try folder.read(file))
  }

  private func entries(of bytes: [UInt8]?) throws(StorageError) -> [String: [UInt8]] {
    guard let bytes else { return [:] }
    do throws(StorageError) {
      return try PlainPropertyList.entries(of: bytes)
    } catch {
      throw error.at(folder.path + "/" + file)
    }
  }

  /// Replaces the entry with the result of `body`, or leaves it if `body` returns nil.
  ///
  /// - Returns: whether the entry was replaced or removed.
  @discardableResult
  private func change(_ body: (Data?) -> Data??) throws(StorageError) -> Bool {
    try folder.locked { (locked) throws(StorageError) in
      var entries = try entries(of: try locked.read(file))
      let old = entries[entry].map { Data($0) }
      guard let new = body(old) else { return false }
      guard new != old else { return true }
      entries[entry] = new.map { Array($0) }
      try locked.write(PlainPropertyList.bytes(of: entries), to: file)
      return true
    }
  }
}
