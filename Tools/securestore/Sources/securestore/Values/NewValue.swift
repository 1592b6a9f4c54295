internal import Foundation
internal import StorageCore

/// A value with the type that it is stored as.
enum NewValue {
  case value(any ReadableValue)
  case json(JSONValue)
  /// A binary property list.
  case propertyList(Data)

  /// The type as the library names it.
  var type: String {
    switch self {
    case .value(let value): Self.name(of: value)
    case .json: StoredValue.codableType
    case .propertyList: StoredValue.propertyListType
    }
  }

  private static func name<Value: ReadableValue>(of _: Value) -> String {
    Value.valueType.description
  }
}

extension StorageTransaction {
  /// Stores a value in the same way as a property of its type.
  func save(_ new: NewValue, forKey key: StoreKey) throws(StorageError) {
    func save(_ value: some ReadableValue) throws(StorageError) {
      try self.save(Optional(value), forKey: key)
    }
    func save(_ encoded: EncodedValue) throws(StorageError) {
      try self.save(Optional(encoded), forKey: key)
    }
    switch new {
    case .value(let value): try save(value)
    case .json(let json):
      try save(EncodedValue(Data(json.text.utf8), coding: .json))
    case .propertyList(let data): try save(EncodedValue(data, coding: .propertyList))
    }
  }

  /// Converts a given value to the type that it must be stored as.
  ///
  /// - Parameters:
  ///   - given: the value.
  ///   - key: its name.
  ///   - kind: the requested type; nil for the stored type, or else the value's own type.
  /// - Returns: the value, ready to save.
  /// - Throws: `Mismatch` if it does not convert to the stored type; `Failure` for input that is
  ///   not a value, or not of the requested type; `StorageError` if the stored value can't be read.
  func newValue(_ given: GivenValue, forKey key: StoreKey, as kind: ValueKind?) throws -> NewValue {
    if let kind {
      if let value = try given.value(of: kind, exactly: false, key) { return value }
      throw Failure(.malformedInput, "the value is not \(kind.title)", key: key)
    }
    guard let stored = try storedType(key) else {
      if let value = try given.asItIs(key) { return value }
      throw Failure(.malformedInput, "null is not a value", key: key)
    }
    guard let kind = ValueKind(stored: stored) else {
      throw Mismatch(key: key, stored: stored, given: given.ownType)
    }
    var old: JSONValue?
    if !kind.hasOwnForm { old = try load(EncodedValue.self, forKey: key)?.json(of: key) }
    guard let value = try given.value(of: kind, exactly: true, key, like: old) else {
      throw Mismatch(key: key, stored: old?.title ?? stored, given: given.ownType)
    }
    return value
  }

  private func storedType(_ key: StoreKey) throws -> String? {
    do throws(StorageError) {
      return try summary(forKey: key)?.type.description
    } catch {
      guard error.code == .damaged else { throw error }
      throw Failure(
        .damaged,
        "\(error.message); so the type of the stored value is not known, and nothing was changed. "
          + "Give the type of the new value with --type if only the value is damaged", key: key,
        path: error.path)
    }
  }

  /// A value that does not convert exactly to the stored type.
  struct Mismatch: Error {
    let key: StoreKey
    let stored: String
    let given: String
  }
}
