public import CryptoCore

/// Hashes names, seals values, and hands records to a place.
///
/// Every read and write takes this path.
public final class SealedStore: Sendable {
  package let keys: StoreKeys
  let place: any RecordPlace
  /// The place, if it keeps a manifest.
  let manifestPlace: (any ManifestPlace)?
  /// The place, if many machines share it.
  package let distantPlace: (any DistantPlace)?
  /// Whether the place keeps names and JSON in the clear.
  let isClear: Bool
  let tag: [UInt8]
  /// The names whose last read failed.
  @usableFromInline let failedReads = FailedReads()
  let recentNames = RecentNames()

  /// A store over `delegate`, whose keys come from `source`.
  ///
  /// A delegate that is no ``RecordPlace`` has no header; an adapter turns it into a place. `clear`
  /// gets the names if the delegate stores them unencrypted.
  package init(
    _ delegate: any StorageDelegate, source: KeySource, algorithm: AEADAlgorithm, tag: [UInt8],
    clear: ClearRecords? = nil
  ) {
    let own = delegate as? any RecordPlace
    place = own ?? DelegateAdapter(delegate)
    manifestPlace = own as? any ManifestPlace
    distantPlace = own as? any DistantPlace
    isClear = clear != nil
    keys = StoreKeys(
      place, hasHeader: own != nil, source: source, algorithm: algorithm, clear: clear)
    self.tag = tag
  }

  /// A name of this store.
  package func name(_ text: String) -> RecordName { RecordName(text, tag: tag) }

  /// The name of a property; `place` is its position in the program's source, if known.
  func name(ofProperty text: String, at place: SourcePlace? = nil) -> RecordName {
    RecordName(text, tag: tag, at: place, isProperty: true)
  }

  /// The keys for reading `name`, or nil when the store is new and holds nothing.
  @inline(__always)
  func keysForReading(_ name: RecordName) throws(StorageError) -> OpenKeys? {
    if let current = keys.current { return current }
    return try StandardUse.by(name) { () throws(StorageError) in try keys.refresh() }
  }

  /// The keys for writing `name`; made, if the store is new.
  func keysForWriting(_ name: RecordName) throws(StorageError) -> OpenKeys {
    if let current = keys.current { return current }
    return try StandardUse.by(name) { () throws(StorageError) in try keys.openOrCreate() }
  }

  // MARK: - Reading

  /// A sealed record and what opens it.
  struct Sealed: Sendable {
    let record: [UInt8]
    let keys: OpenKeys
    let context: RecordContext
  }

  /// The record of a name, or nil when there is none.
  @inline(__always)
  func fetch(_ name: RecordName) throws(StorageError) -> Sealed? {
    try keys.owner?.check()
    for _ in Attempts() {
      guard let open = try keysForReading(name) else {
        try Payload.check(name: name.text)
        return nil
      }
      let context = try name.context(in: open)
      let (record, version) = try place.lookup(context.name)
      // Under another header, the name may have another hash, so the record only seems absent.
      if version == open.headerVersion {
        guard let record else { return nil }
        return Sealed(record: record, keys: open, context: context)
      }
      try keys.refresh()
    }
    throw Self.changing(name)
  }

  /// Lends the current keys and the context of a name under them, and counts no references.
  ///
  /// The keys live as long as the store, and the context as long as the name.
  ///
  /// - Returns: nil when `body` returns nil, when the store is not open, or when the name was not
  ///   used under these keys; the caller then takes the slow path.
  @inline(__always)
  func withCurrent<Result>(
    _ name: RecordName, _ body: (OpenKeys, RecordContext) throws(StorageError) -> Result?
  ) throws(StorageError) -> Result? {
    guard let keys = unsafe keys.uncounted, let context = unsafe name.uncounted else { return nil }
    var failure: StorageError?
    let result: Result? = unsafe keys._withUnsafeGuaranteedRef { keys in
      unsafe context._withUnsafeGuaranteedRef { context in
        guard context.origin === keys.nameSpace else { return nil }
        // The calls around this one pass on only untyped errors.
        do throws(StorageError) {
          return try body(keys, context)
        } catch {
          failure = error
          return nil
        }
      }
    }
    if let failure { throw failure }
    return result
  }

  /// Opens a record and lends its payload to `body`.
  func open(
    _ sealed: Sealed, _ name: String?, _ body: (RawSpan) throws(StorageError) -> Void
  ) throws(StorageError) {
    try open(unsafe sealed.record.span.bytes, sealed.keys, sealed.context, name, body)
  }

  @inline(__always)
  private func open(
    _ record: RawSpan, _ keys: OpenKeys, _ context: RecordContext, _ name: String?,
    _ body: (RawSpan) throws(StorageError) -> Void
  ) throws(StorageError) {
    var failure: StorageError?
    do throws(CryptoError) {
      try keys.withOpened(record, for: context) { payload in
        do throws(StorageError) { try body(payload) } catch { failure = error }
      }
    } catch {
      throw StorageError(error, key: name)
    }
    if let failure { throw failure.about(name) }
  }

  /// Lends the payload of a name to `body`, unless there is none.
  ///
  /// Not generic: the generic part of a read is in the wrapper and specialised in the program.
  ///
  /// - Returns: whether there was a record.
  @usableFromInline
  func withPayload(
    _ name: RecordName, _ body: (RawSpan) throws(StorageError) -> Void
  ) throws(StorageError) -> Bool {
    // Before anything is remembered: the failure is the caller's, and not that of the store.
    if let owner = keys.owner { try owner.check() }
    do throws(StorageError) {
      var isThere = try withCurrent(name) { (keys, context) throws(StorageError) -> Bool? in
        if let isThere = try withCopy(keys, context, name.text, body) { return isThere }
        let (record, version) = try place.lookup(context.name)
        guard version == keys.headerVersion else { return nil }
        guard let record else { return false }
        try open(unsafe record.span.bytes, keys, context, name.text, body)
        return true
      }
      if isThere == nil { isThere = try withFetchedPayload(name, body) }
      failedReads.forget(name.text)
      return isThere == true
    } catch {
      failedReads.remember(name, error)
      events.tell(.failedToRead(error.code))
      throw error.about(name.text)
    }
  }

  /// The longest record that is copied: to open a longer one takes far longer than to count a
  /// reference.
  private static let copyLimit = 1024

  /// Opens a copy of the record in memory, made without a reference that other readers would write
  /// to.
  ///
  /// - Returns: as ``withPayload(_:_:)``, or nil when the place has to look the name up.
  @inline(__always)
  private func withCopy(
    _ keys: OpenKeys, _ context: RecordContext, _ name: String,
    _ body: (RawSpan) throws(StorageError) -> Void
  ) throws(StorageError) -> Bool? {
    try unsafe withUnsafeTemporaryAllocation(byteCount: Self.copyLimit, alignment: 8) {
      (buffer) throws(StorageError) in
      guard let copy = try unsafe place.copyRecord(context.name, into: buffer),
        copy.headerVersion == keys.headerVersion
      else { return nil }
      guard let count = copy.count else { return false }
      let record = unsafe RawSpan(
        _unsafeStart: UnsafeRawPointer(buffer.baseAddress!), byteCount: count)
      try open(record, keys, context, name, body)
      return true
    }
  }

  private func withFetchedPayload(
    _ name: RecordName, _ body: (RawSpan) throws(StorageError) -> Void
  ) throws(StorageError) -> Bool {
    guard let sealed = try fetch(name) else { return false }
    try open(sealed, name.text, body)
    return true
  }

  /// The value of a name, or nil when there is none.
  @inlinable
  func read<Value>(
    _ name: RecordName, _ coder: ValueCoder<Value>
  ) throws(StorageError) -> Value? {
    var value: Value?
    _ = try withPayload(name) { (payload) throws(StorageError) in
      value = try coder.decode(payload)
    }
    return value
  }

  /// The value of a name if that takes no time: its record is in memory, and opens.
  ///
  /// - Returns: nil when the caller has to call ``read(_:_:)`` where it may block. That call also
  ///   gives the error, if there is one.
  func readAtOnce<Value>(_ name: RecordName, _ coder: ValueCoder<Value>) -> Value?? {
    guard !asksOthers, keys.owner == nil, let open = keys.current else { return nil }
    var value: Value?
    do throws(StorageError) {
      let isThere = try withCopy(open, name.context(in: open), name.text) {
        (payload) throws(StorageError) in
        value = try coder.decode(payload)
      }
      guard isThere != nil else { return nil }
      failedReads.forget(name.text)
      return .some(value)
    } catch {
      return nil
    }
  }

  /// Whether async code has to call on a thread that may block.
  package var asksOthers: Bool { place.asksOthers }

  /// The place of the records, or this store where the place has no identity.
  var identity: DelegateIdentity { place.identity ?? DelegateIdentity(of: self) }

  static func changing(_ name: RecordName) -> StorageError {
    StorageError(
      .busy, "another program kept changing the store's keys; try again", key: name.text)
  }
}

extension SealedStore {
  /// The events of this store.
  package var events: StoreEvents { keys.events }
}

extension SealedStore: RedactedDescription {}
