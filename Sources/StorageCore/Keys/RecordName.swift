internal import CryptoCore

/// A key name with its keyed hash, which is computed at the first use and then cached.
@safe @usableFromInline
package final class RecordName: @unchecked Sendable {
  @usableFromInline package let text: String
  private let tag: [UInt8]
  /// The property's position in the program's source, if known.
  let place: SourcePlace?
  /// Whether a property has this name.
  ///
  /// Otherwise a call gave it, which may have made it up.
  let isProperty: Bool
  /// The context under the first name key seen.
  ///
  /// Most programs see only one name key.
  private let first = SetOnce<RecordContext>()
  /// The context under a name key that came later.
  ///
  /// Read and written only under the lock `rebinding`.
  private nonisolated(unsafe) var later: RecordContext?
  /// One lock for all names: keys are seldom replaced, and many calls create a name each.
  private static let rebinding = Lock(())

  package init(
    _ text: String, tag: [UInt8], at place: SourcePlace? = nil, isProperty: Bool = false
  ) {
    self.text = text
    self.tag = tag
    self.place = place
    self.isProperty = isProperty
  }

  /// The key, and its property's position in the source, if known.
  var title: String { "\"\(text)\"" + (place.map { " at \($0)" } ?? "") }

  /// Whether this is the given name; nil means any name.
  ///
  /// Names are compared by their bytes, as in the store.
  func isMeant(by name: String?) -> Bool {
    name.map { $0.utf8.elementsEqual(text.utf8) } ?? true
  }

  /// The context that the record of this name is sealed with under `keys`.
  @inline(__always)
  func context(in keys: OpenKeys) throws(StorageError) -> RecordContext {
    if let context = unsafe uncounted?.takeUnretainedValue(), context.origin === keys.nameSpace {
      return context
    }
    return try bind(to: keys)
  }

  /// The context under the first name key, if it was used.
  ///
  /// It lives as long as the name.
  @inline(__always)
  var uncounted: Unmanaged<RecordContext>? { unsafe first.uncounted }

  private func bind(to keys: OpenKeys) throws(StorageError) -> RecordContext {
    if unsafe uncounted != nil, let context = Self.rebinding.withLock({ _ in unsafe later }),
      context.origin === keys.nameSpace
    {
      return context
    }
    try Payload.check(name: text)
    let hash = try cryptography(key: text) { () throws(CryptoError) in
      try keys.names.hash(name: text)
    }
    keys.clear?.learn(text, hash)
    let context = RecordContext(
      store: keys.store, name: hash, authenticationTag: tag, origin: keys.nameSpace)
    if first.storeIfNil(context) !== context {
      Self.rebinding.withLock { _ in unsafe later = context }
    }
    return context
  }
}

extension RecordName: CustomReflectable {
  /// A mirror without the authentication tag.
  @usableFromInline
  package var customMirror: Mirror { Mirror(self, children: ["text": text]) }
}
