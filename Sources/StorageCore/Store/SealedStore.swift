public import CryptoCore

/// Names hashed, values sealed, records handed to a delegate: the one path of every read and write.
public final class SealedStore: Sendable {
  package let keys: StoreKeys
  let delegate: any StorageDelegate
  /// The same delegate where it can hold a header, and a stand-in elsewhere.
  ///
  /// Not an optional, which would be copied for every call.
  let headed: any KeysetDelegate
  let isHeaded: Bool
  /// The same delegate where readers can copy out of its memory, and a stand-in elsewhere.
  private let copying: any CopyingDelegate
  private let isCopying: Bool
  /// Whether the delegate keeps names and JSON in the clear.
  let isClear: Bool

  /// The delegate where it can hold a header.
  var keyed: (any KeysetDelegate)? { isHeaded ? headed : nil }
  let tag: [UInt8]
  /// Tells of the changes of a delegate that can't do so itself; settled at the first write.
  private let changes = SetOnce<ChangeHub>()
  /// Names whose record was there and could not be read; see `refuseToReplaceUnreadable`.
  let unreadable = UnreadableNames()
  let recentNames = RecentNames()

  /// A store over `delegate`, whose keys come from `source`.
  package init(
    _ delegate: any StorageDelegate, source: KeySource, algorithm: AEADAlgorithm, tag: [UInt8]
  ) {
    self.delegate = delegate
    let keyed = delegate as? any KeysetDelegate
    isHeaded = keyed != nil
    headed = keyed ?? NoHeader()
    let copying = delegate as? any CopyingDelegate
    isCopying = copying != nil
    self.copying = copying ?? NoHeader()
    let clear = (delegate as? any ClearDelegate)?.records
    isClear = clear != nil
    keys = StoreKeys(delegate: keyed, source: source, algorithm: algorithm, clear: clear)
    self.tag = tag
  }

  /// A name of this store.
  package func name(_ text: String) -> RecordName { RecordName(text, tag: tag) }

  /// The name of a property, which is at `place` in the program's source, if that is known.
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
    for _ in 0..<Self.attempts {
      guard let open = try keysForReading(name) else {
        try Payload.check(name: name.text)
        return nil
      }
      let context = try name.context(in: open)
      guard isHeaded else {
        let record = try delegate.record(for: context.name)
        return record.map { Sealed(record: $0, keys: open, context: context) }
      }
      let (record, version) = try headed.lookup(context.name)
      // With another header, names may hash otherwise: absent is believed only under the current.
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
  /// - Returns: nil when `body` does, when the store is not open, or when the name was not used under
  ///   these keys: then the long way is to be gone.
  @inline(__always)
  func withCurrent<Result>(
    _ name: RecordName, _ body: (OpenKeys, RecordContext) throws(StorageError) -> Result?
  ) throws(StorageError) -> Result? {
    guard isHeaded, let keys = unsafe keys.uncounted, let context = unsafe name.uncounted else {
      return nil
    }
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
    do throws(StorageError) {
      var isThere = try withCurrent(name) { (keys, context) throws(StorageError) -> Bool? in
        if isCopying, let isThere = try withCopy(keys, context, name.text, body) { return isThere }
        let (record, version) = try headed.lookup(context.name)
        guard version == keys.headerVersion else { return nil }
        guard let record else { return false }
        try open(unsafe record.span.bytes, keys, context, name.text, body)
        return true
      }
      if isThere == nil { isThere = try withFetchedPayload(name, body) }
      unreadable.forget(name.text)
      return isThere == true
    } catch {
      unreadable.remember(name, error)
      events.tell(.failedToRead(error.code))
      throw error.about(name.text)
    }
  }

  /// The longest record that is copied: to open a longer one takes far longer than to count a reference.
  private static let copyLimit = 1024

  /// Opens a copy of the record in memory, made without a reference that other readers would write to.
  ///
  /// - Returns: as ``withPayload(_:_:)``, or nil when the delegate has to look the name up.
  @inline(__always)
  private func withCopy(
    _ keys: OpenKeys, _ context: RecordContext, _ name: String,
    _ body: (RawSpan) throws(StorageError) -> Void
  ) throws(StorageError) -> Bool? {
    try unsafe withUnsafeTemporaryAllocation(byteCount: Self.copyLimit, alignment: 8) {
      (buffer) throws(StorageError) in
      guard let copy = try unsafe copying.copyRecord(context.name, into: buffer),
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

  /// Whether async code has to ask on a thread that may block.
  package var asksOthers: Bool { delegate.asksOthers }

  /// Calls `observer` for each change to a record, in order.
  package func observe(
    _ observer: @escaping @Sendable (RecordChange) -> Void
  ) -> ChangeObservation {
    (delegate as? any ObservableDelegate)?.observe(observer) ?? changeHub.add(observer)
  }

  /// Which place the records are in: this store, where nobody knows of another one.
  var identity: DelegateIdentity { delegate.identity ?? DelegateIdentity(of: self) }

  var changeHub: ChangeHub {
    changes.load() ?? changes.storeIfNil(ChangeHub.hub(of: identity))
  }

  /// The delegate, where it can list.
  func enumerable() throws(StorageError) -> any EnumerableDelegate {
    guard let delegate = delegate as? any EnumerableDelegate else {
      throw StorageError(.unsupported, "this storage's delegate can't list what it holds")
    }
    return delegate
  }

  static let attempts = 1000

  static func changing(_ name: RecordName) -> StorageError {
    StorageError(
      .busy, "another program kept changing the store's keys; try again", key: name.text)
  }
}

extension SealedStore: RedactedDescription {}

/// Stands where a delegate that can't hold a header has nothing to stand; never called.
private struct NoHeader: CopyingDelegate {
  private static let error = StorageError(.unsupported, "this storage's delegate holds no header")

  func header() throws(StorageError) -> (header: [UInt8]?, version: UInt64) { throw Self.error }
  func updateHeader(
    _ body: (inout [UInt8]?, HeldRecords) throws(StorageError) -> Void
  ) throws(StorageError) -> UInt64 { throw Self.error }
  func lookup(
    _ name: NameHash
  ) throws(StorageError) -> (record: [UInt8]?, headerVersion: UInt64) { throw Self.error }
  func commit(
    _ writes: [RecordWrite], headerVersion: UInt64
  ) throws(StorageError) -> CommitOutcome { throw Self.error }
  func copyRecord(
    _ name: NameHash, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StorageError) -> RecordCopy? { throw Self.error }
  func names() throws(StorageError) -> [NameHash] { throw Self.error }
}
