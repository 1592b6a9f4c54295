internal import CryptoCore
internal import Synchronization

/// A key name and, once it was used, its keyed hash: a wrapper computes it once and keeps it.
@usableFromInline
package final class RecordName: Sendable {
  package let text: String
  private let tag: [UInt8]
  /// The hash under the first name key that was seen, which is the only one for most programs.
  private let first = AtomicLazyReference<Bound>()
  /// The hash under a name key that came later.
  private let later = Lock<Bound?>(nil)

  private final class Bound: Sendable {
    let space: OpenKeys.NameSpace
    let context: RecordContext

    init(space: OpenKeys.NameSpace, context: RecordContext) {
      self.space = space
      self.context = context
    }
  }

  package init(_ text: String, tag: [UInt8]) {
    self.text = text
    self.tag = tag
  }

  /// What the record of this name is bound to under `keys`.
  @inline(__always)
  func context(in keys: OpenKeys) throws(StorageError) -> RecordContext {
    if let bound = first.load(), bound.space === keys.nameSpace { return bound.context }
    return try bind(to: keys)
  }

  private func bind(to keys: OpenKeys) throws(StorageError) -> RecordContext {
    if let bound = later.withLock({ $0 }), bound.space === keys.nameSpace { return bound.context }
    _ = try Payload.head(name: text)  // refuses a name that can't be
    let hash = try cryptography(key: text) { () throws(CryptoError) in
      try keys.names.hash(name: text)
    }
    let bound = Bound(
      space: keys.nameSpace,
      context: RecordContext(store: keys.store, name: hash, authenticationTag: tag))
    if first.storeIfNil(bound) !== bound { later.withLock { $0 = bound } }
    return bound.context
  }
}
