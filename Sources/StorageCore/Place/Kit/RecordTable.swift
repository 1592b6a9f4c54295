/// The records of a delegate in memory: objects by name, which readers use without counting
/// references.
///
/// It is part of the value of a `SharedLock`, whose readers run at the same time on many cores.
/// Each counted reference would make each reader write to the same count. Readers use
/// ``uncounted(_:)``; all other calls count references.
@safe @usableFromInline
package struct RecordTable<Key: Hashable, Entry: AnyObject>: ~Copyable {
  /// Counted references, each released when its entry is replaced or removed, and in `deinit`.
  @usableFromInline var entries: [Key: Unmanaged<Entry>] = unsafe [:]

  /// Makes an empty table.
  @inlinable
  package init() {}

  @inlinable
  deinit { unsafe Self.release(entries) }

  /// The object under a key; it lives as long as the table holds it.
  @inlinable @inline(__always)
  package func uncounted(_ key: Key) -> Unmanaged<Entry>? { unsafe entries[key] }

  /// The object under a key.
  @inlinable
  package subscript(key: Key) -> Entry? { unsafe entries[key]?.takeUnretainedValue() }

  /// The number of objects.
  @inlinable
  package var count: Int { unsafe entries.count }

  /// All keys and objects.
  @inlinable
  package var all: [(key: Key, entry: Entry)] {
    unsafe entries.map { unsafe (key: $0.key, entry: $0.value.takeUnretainedValue()) }
  }

  /// All keys.
  @inlinable
  package var keys: [Key] { unsafe Array(entries.keys) }

  /// Stores an object under a key.
  ///
  /// - Returns: the replaced object, or nil.
  @inlinable @discardableResult
  package mutating func update(_ entry: Entry, for key: Key) -> Entry? {
    unsafe entries.updateValue(.passRetained(entry), forKey: key)?.takeRetainedValue()
  }

  /// Removes an object, and returns it.
  @inlinable @discardableResult
  package mutating func remove(_ key: Key) -> Entry? {
    unsafe entries.removeValue(forKey: key)?.takeRetainedValue()
  }

  @usableFromInline
  static func release(_ entries: [Key: Unmanaged<Entry>]) {
    var rest = unsafe entries.makeIterator()
    while let (_, entry) = unsafe rest.next() { unsafe entry.release() }
  }

  /// Removes all objects.
  @inlinable
  package mutating func removeAll() {
    guard unsafe !entries.isEmpty else { return }
    let old = unsafe entries
    unsafe entries = [:]
    unsafe Self.release(old)
  }
}

// Unchecked, since the entries are pointers, which are not Sendable. Like the rest of the table,
// they are changed only by code that has exclusive access to the table.
extension RecordTable: @unchecked Sendable where Key: Sendable, Entry: Sendable {}

/// A record in a ``RecordTable``.
package final class TableRecord: Sendable {
  /// The bytes.
  package let bytes: [UInt8]

  /// A record of `bytes`.
  package init(_ bytes: [UInt8]) { self.bytes = bytes }
}
