extension Live {
  /// The key.
  public var key: StoreKey {
    switch form {
    case .optional(let anchor): anchor.source.name
    case .defaulted(let anchor, _): anchor.source.name
    }
  }

  /// The value of the property when the storage has none; nil for an optional property.
  public var defaultValue: Property? {
    if case .defaulted(_, let value) = form { value } else { nil }
  }

  /// Reads the value; nil or the default when there is none.
  ///
  /// Reads from memory, and is observed, as the property itself.
  ///
  /// - Throws: `StorageError` when the value can't be read. The default is not returned in that
  ///   case.
  public func load() throws(StorageError) -> Property {
    switch form {
    case .optional(let anchor): try anchor.live.load()
    case .defaulted(let anchor, let value): try anchor.live.load() ?? value
    }
  }

  /// Stores a value, or removes it when `value` is nil.
  ///
  /// When this returns, the change is durable where the place is durable, and every reader in this
  /// process sees it. A damaged value is replaced; a value of another type is not.
  ///
  /// - Throws: `StorageError`: `typeMismatch` when the key holds a value of another type, `invalid`
  ///   for a value that can't be encoded, or the reason why it can't be stored. The old value then
  ///   remains, except after `outcomeUnknown`, when the change may or may not have been stored.
  public func save(_ value: Property) throws(StorageError) {
    switch form {
    case .optional(let anchor): try anchor.save(value)
    case .defaulted(let anchor, _): try anchor.save(value)
    }
  }

  /// Removes the value, if there is one, whatever its type.
  ///
  /// - Throws: `StorageError`. The value then remains, except after `outcomeUnknown`, when it may
  ///   or may not have been removed.
  public func remove() throws(StorageError) {
    switch form {
    case .optional(let anchor): try anchor.live.remove(from: anchor.source)
    case .defaulted(let anchor, _): try anchor.live.remove(from: anchor.source)
    }
  }

  /// Changes the value in one atomic step, across threads and processes.
  ///
  /// - Parameter body: gets the value, or nil or the default when there is none, and changes it.
  ///   `body` runs outside all locks, and runs again if another thread or process wrote meanwhile.
  /// - Returns: what the last run of `body` returned.
  /// - Throws: what `body` throws, or `StorageError`. The old value then remains, except after
  ///   `outcomeUnknown`, when the change may or may not have been stored.
  @discardableResult
  public func update<Result>(_ body: (inout Property) throws -> Result) throws -> Result {
    switch form {
    case .optional(let anchor):
      return try anchor.live.update(in: anchor.source, body)
    case .defaulted(let anchor, let fallback):
      return try anchor.live.update(in: anchor.source) { stored in
        var value = stored ?? fallback
        let result = try body(&value)
        stored = value
        return result
      }
    }
  }

  /// The current state of the property; unlike the property itself, it tells absent from failed.
  ///
  /// For an optional property, an absent value is `absent` and never `value(nil)`.
  public var state: PropertyState<Property> {
    switch form {
    case .optional(let anchor): return anchor.live.state
    case .defaulted(let anchor, _):
      switch anchor.live.state {
      case .failed(let error): return .failed(error)
      case .absent, .value(nil): return .absent
      case .value(let value?): return .value(value)
      }
    }
  }

  /// The state of the property now, then after every change; see ``PropertyStates``.
  public var states: PropertyStates<Property> {
    switch form {
    case .optional(let anchor): anchor.source.states
    case .defaulted(let anchor, _): anchor.source.unwrapped().states
    }
  }

  /// The value now, then after every change; see ``PropertyValues``.
  public var values: PropertyValues<Property, Property> {
    switch form {
    case .optional(let anchor):
      PropertyValues(states, report: anchor.source.report, fallback: anchor.absent) { $0 }
    case .defaulted(let anchor, let value):
      PropertyValues(states, report: anchor.source.report, fallback: value) { $0 }
    }
  }
}

extension Live where StorageType: Storage {
  /// The storage.
  public var storage: StorageType {
    let isGiven =
      switch form {
      case .optional(let anchor): anchor.source.isOfGivenPlace
      case .defaulted(let anchor, _): anchor.source.isOfGivenPlace
      }
    return isGiven ? parts.given : parts.given.inUse
  }
}

// MARK: - Without blocking a thread of Swift concurrency

extension Live {
  /// As ``load()``, for the first read, which accesses the storage.
  ///
  /// - Throws: as ``load()``.
  public func loadAsync() async throws(StorageError) -> Property {
    try await Blocking.run { () throws(StorageError) in try load() }
  }

  /// As ``save(_:)``.
  ///
  /// - Throws: as ``save(_:)``.
  public func saveAsync(_ value: Property) async throws(StorageError) {
    try await Blocking.run { () throws(StorageError) in try save(value) }
  }

  /// As ``remove()``.
  ///
  /// - Throws: as ``remove()``.
  public func removeAsync() async throws(StorageError) {
    try await Blocking.run { () throws(StorageError) in try remove() }
  }

  /// As ``update(_:)``.
  ///
  /// - Throws: as ``update(_:)``.
  @discardableResult
  public func updateAsync<Result: Sendable>(
    _ body: @escaping @Sendable (inout Property) throws -> Result
  ) async throws -> Result {
    try await Blocking.run { try update(body) }
  }
}

// MARK: - The shared value

extension Live {
  // Disfavoured, because both variants of `live` fit optional properties.

  /// The object that all live properties of the key and type share; it holds nil when there is no
  /// value.
  @_disfavoredOverload
  public var live: LiveValue<Property?> {
    switch form {
    case .optional(let anchor): anchor.source.optional().live(absent: nil, anchor.owner)
    case .defaulted(let anchor, _): anchor.live
    }
  }
}

extension Live where Property: ExpressibleByNilLiteral {
  /// The object that all live properties of the key and type share.
  public var live: LiveValue<Property> {
    switch form {
    case .optional(let anchor): anchor.live
    case .defaulted(let anchor, _): anchor.source.unwrapped().live(absent: nil, anchor.owner)
    }
  }
}
