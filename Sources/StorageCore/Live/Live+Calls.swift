extension Live {
  /// The key.
  public var key: StoreKey {
    switch form {
    case .optional(let anchor): anchor.key
    case .defaulted(let anchor, _): anchor.key
    }
  }

  /// The storage.
  public var storage: StorageType {
    switch form {
    case .optional(let anchor): anchor.storage
    case .defaulted(let anchor, _): anchor.storage
    }
  }

  /// What the property is when there is no value; nil for an optional property.
  public var defaultValue: Property? {
    if case .defaulted(_, let value) = form { value } else { nil }
  }

  /// The value as the storage has it: nil or the default when there is none.
  ///
  /// From memory, as the property itself, and observed as that.
  ///
  /// - Throws: `StorageError` when the value can't be read: the default is not an answer to that.
  public func load() throws(StorageError) -> Property {
    switch form {
    case .optional(let anchor): try anchor.live.load()
    case .defaulted(let anchor, let value): try anchor.live.load() ?? value
    }
  }

  /// Stores a value, or removes it when it is nil; durable where the place is, before it returns.
  ///
  /// Then every reader in this process has the value. One that is there and damaged is replaced; one of
  /// another type is not.
  ///
  /// - Throws: `StorageError`: `typeMismatch` when the key has a value of another type, `invalid` for a
  ///   value that can't be encoded, or why it can't be stored. The old value is then still there, except
  ///   with `outcomeUnknown`.
  public func save(_ value: Property) throws(StorageError) {
    switch form {
    case .optional(let anchor): try anchor.save(value)
    case .defaulted(let anchor, _): try anchor.save(value)
    }
  }

  /// Removes the value, if there is one, whatever its type.
  ///
  /// - Throws: `StorageError`; the value is then still there, except with `outcomeUnknown`.
  public func remove() throws(StorageError) {
    switch form {
    case .optional(let anchor): try anchor.live.remove(from: anchor.storage.store)
    case .defaulted(let anchor, _): try anchor.live.remove(from: anchor.storage.store)
    }
  }

  /// Changes the value in one atomic step, across threads and processes.
  ///
  /// - Parameter body: is given the value, or nil or the default when there is none, and changes it.
  ///   Runs outside all locks, and again when somebody else wrote meanwhile.
  /// - Returns: what `body` returned the last time.
  /// - Throws: what `body` throws, or `StorageError`; the old value is then still there.
  @discardableResult
  public func update<Result>(_ body: (inout Property) throws -> Result) throws -> Result {
    switch form {
    case .optional(let anchor):
      return try anchor.live.update(in: anchor.storage.store, body)
    case .defaulted(let anchor, let fallback):
      return try anchor.live.update(in: anchor.storage.store) { stored in
        var value = stored ?? fallback
        let result = try body(&value)
        stored = value
        return result
      }
    }
  }

  /// What the property holds: unlike the property itself, it tells absent from failed.
  ///
  /// The value of an optional property is never nil here: that is `absent`.
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

  /// What the property holds now, then after every change; see ``PropertyStates``.
  ///
  /// Where `Observations` may tell the last of several changes alone, these are all of this process.
  public var states: PropertyStates<Property> {
    switch form {
    case .optional(let anchor): anchor.states(anchor.coder)
    case .defaulted(let anchor, _): anchor.states(anchor.coder.unwrapped())
    }
  }

  /// The value now, then after every change; see ``PropertyValues``.
  public var values: PropertyValues<Property, Property> {
    switch form {
    case .optional(let anchor):
      PropertyValues(states, report: anchor.storage.report, fallback: anchor.absent) { $0 }
    case .defaulted(let anchor, let value):
      PropertyValues(states, report: anchor.storage.report, fallback: value) { $0 }
    }
  }
}

// MARK: - Without blocking a thread of Swift concurrency

extension Live {
  /// As ``load()``, for the first read, which asks the storage.
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

  /// As ``state``, for the first read, which asks the storage.
  public func stateAsync() async -> PropertyState<Property> {
    await Blocking.run { state }
  }
}

// MARK: - The shared value

extension Live {
  // The other `live` is for optional properties, and both would do for them.

  /// The object that all live properties of the key and type share; nil in it is no value.
  @_disfavoredOverload
  public var live: LiveValue<Property?> {
    switch form {
    case .optional(let anchor): anchor.live(anchor.coder.optional, absent: nil)
    case .defaulted(let anchor, _): anchor.live
    }
  }
}

extension Live where Property: ExpressibleByNilLiteral {
  /// The object that all live properties of the key and type share.
  public var live: LiveValue<Property> {
    switch form {
    case .optional(let anchor): anchor.live
    case .defaulted(let anchor, _): anchor.live(anchor.coder.unwrapped(), absent: nil)
    }
  }
}
