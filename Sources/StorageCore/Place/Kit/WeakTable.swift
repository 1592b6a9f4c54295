internal import CryptoCore

/// Objects that all of the process shares by a key, each for as long as somebody uses it.
package struct WeakTable<Key: Hashable & Sendable, Object: AnyObject & Sendable>: Sendable {
  private struct Entry: Sendable {
    weak var object: Object?
  }
  private let entries = Lock<[Key: Entry]>([:])

  /// Makes an empty table.
  package init() {}

  /// The object of a key; makes it if nobody uses one.
  ///
  /// `make` runs while the table is locked, and must not use the table.
  ///
  /// - Throws: what `make` throws.
  package func object<Failure: Error>(
    _ key: Key, make: () throws(Failure) -> Object
  ) throws(Failure) -> Object {
    try entries.withLock { (entries) throws(Failure) in
      if let object = entries[key]?.object { return object }
      let object = try make()
      entries = entries.filter { $0.value.object != nil }
      entries[key] = Entry(object: object)
      return object
    }
  }

  /// All objects in use, with their keys.
  package var all: [(key: Key, object: Object)] {
    entries.withLock { entries in
      entries.compactMap { key, entry in entry.object.map { (key, $0) } }
    }
  }
}
