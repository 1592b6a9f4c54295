internal import CryptoCore

/// What a live property stands on: a source through which all live properties of a key share one
/// value.
///
/// `Value` is an optional type; nil is never stored.
package protocol LiveSource<Value>: UpdatableSource, ObservedSource
where States == PropertyStates<Value> {
  /// Whether the source uses the place that it was created with, and not that of a test.
  var isOfGivenPlace: Bool { get }

  /// The hub of the place in use now, and this source, which stays with that place.
  var following: (hub: LiveHub, source: any LiveSource<Value>) { get }

  /// The state that a change notice contains; nil when only a read can tell the state.
  ///
  /// - Throws: `StorageError` when the changed record can't be opened.
  func state(after change: RecordChange) throws(StorageError) -> PropertyState<Value>?

  /// Stores a value.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - onlyIfAbsent: whether a stored value stays.
  /// - Returns: false when a stored value stayed.
  /// - Throws: `StorageError`, as `save`.
  func write(_ value: Value, onlyIfAbsent: Bool) throws(StorageError) -> Bool

  /// The same key as a source of another type.
  func mapped<New: Sendable & Equatable>(
    _ wrap: @escaping @Sendable (Value) throws(StorageError) -> New,
    _ unwrap: @escaping @Sendable (New) throws(StorageError) -> Value
  ) -> any LiveSource<New>
}

extension LiveSource where Value: Sendable & Equatable {
  /// The value that is shared by all properties of the key and type, or by those of an owner.
  ///
  /// It is `absent` when nothing is stored.
  func live(absent: Value, _ owner: LiveOwner?) -> LiveValue<Value> {
    let (hub, source) = following
    return hub.value(of: source, absent: absent, owner)
  }

  /// The same key as a source that neither reads nor writes a value that a check refuses.
  func checked(by check: @escaping @Sendable (Value) -> Bool) -> any LiveSource<Value> {
    mapped(
      { (value) throws(StorageError) in
        if check(value) { return value }
        throw StorageError(
          .invalid,
          "the property's check (validate) refuses the stored value, which was left unchanged. Store "
            + "another value, or correct the check")
      },
      { (value) throws(StorageError) in
        if check(value) { return value }
        throw StorageError(
          .invalid,
          "the property's check (validate) refuses the new value, and nothing was changed")
      })
  }

  /// The same key as a source of an optional type.
  package func optional() -> any LiveSource<Value?> {
    mapped({ (value) throws(StorageError) in value }, requireValue)
  }

  /// The same key as a source of the wrapped type.
  func unwrapped<Wrapped: Sendable & Equatable>() -> any LiveSource<Wrapped>
  where Value == Wrapped? {
    mapped(
      { (value) throws(StorageError) in
        guard let value else {
          throw StorageError(.damaged, "the stored value decodes to nil, which is never stored")
        }
        return value
      }, { (value) throws(StorageError) in value })
  }
}

/// The value to store.
@Sendable
func requireValue<Value>(_ value: Value?) throws(StorageError) -> Value {
  if let value { return value }
  throw StorageError(.invalid, "nil can't be stored; remove the value instead")
}

extension PropertyCore: LiveSource {
  package var isOfGivenPlace: Bool { home === storage }

  package var following: (hub: LiveHub, source: any LiveSource<Value>) {
    let home = home
    let source =
      home === storage ? PropertyCore(home, recordName, coder) : PropertyCore(home, name, coder)
    return (LiveHub.hub(of: home.store), source)
  }

  /// Opens the changed record with the current keys only.
  ///
  /// - Returns: nil when it is not the record of this name under the current keys.
  package func state(
    after change: RecordChange
  ) throws(StorageError) -> PropertyState<Value>? {
    let store = home.store
    var keys = store.keys.current
    if keys == nil || keys?.headerVersion != change.headerVersion {
      keys = try store.keys.refresh()
    }
    guard let keys else { return nil }
    let context = try recordName.context(in: keys)
    guard context.name == change.name else { return nil }
    guard let record = change.record else {
      failedRead.forget()
      return .absent
    }
    var value: Value?
    try store.open(SealedStore.Sealed(record: record, keys: keys, context: context), name) {
      (payload) throws(StorageError) in value = try coder.decode(payload)
    }
    failedRead.forget()
    return value.map { .value($0) }
  }

  package func write(_ value: Value, onlyIfAbsent: Bool) throws(StorageError) -> Bool {
    try home.store.write(value, recordName, coder, if: onlyIfAbsent ? .absent : .always)
  }

  package func mapped<New: Sendable & Equatable>(
    _ wrap: @escaping @Sendable (Value) throws(StorageError) -> New,
    _ unwrap: @escaping @Sendable (New) throws(StorageError) -> Value
  ) -> any LiveSource<New> {
    PropertyCore<New, StorageType>(
      storage, recordName, coder.mapped(wrap, unwrap), followsTests: followsTests)
  }
}
