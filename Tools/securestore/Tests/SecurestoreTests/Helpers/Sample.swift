import Foundation
import StorageCore
import StorageTesting

/// Stores one value under a name.
struct Sample {
  /// What `--type` says of it; nil for a type that only a stored value has.
  let type: String?
  let save: (any Storage, StoreKey) throws -> Void
  /// The text that programs read as the value; nil if there is none.
  private(set) var exactText: String?
  /// Whether two storages hold the same under two names, to the bit.
  let isSame: (any Storage, StoreKey, any Storage, StoreKey) throws -> Bool
  /// Whether a program that reads the type gets the value.
  let isRead: (any Storage, StoreKey) throws -> Bool

  init<Value: StorableValue>(_ value: Value) {
    type = Value.valueType.description
    exactText = Self.exactText(value)
    save = { try $0.save(Optional(value), forKey: $1) }
    isSame = { one, name, other, otherName in
      let stored = try one.load(AnyStorableValue.self, forKey: name)
      return try stored != nil && stored == other.load(AnyStorableValue.self, forKey: otherName)
        && stored == AnyStorableValue(value)
    }
    isRead = { storage, name in
      guard let read = try storage.load(Value.self, forKey: name) else { return false }
      return try AnyStorableValue(read) == AnyStorableValue(value)
    }
  }

  init<Value: Codable & Equatable>(codable value: Value, isJSON: Bool = true) {
    type = isJSON ? "json" : nil
    let coding: CodableCoding = isJSON ? .json : .propertyList
    save = { try $0.save(encodable: Optional(value), forKey: $1, coding: coding) }
    isSame = { one, name, other, otherName in
      let coded = try one.load(EncodedValue.self, forKey: name)?.coding
      return try coded == other.load(EncodedValue.self, forKey: otherName)?.coding
        && one.load(decodable: Value.self, forKey: name, coding: coding) == value
        && other.load(decodable: Value.self, forKey: otherName, coding: coding) == value
    }
    isRead = { storage, name in
      try storage.load(decodable: Value.self, forKey: name, coding: coding) == value
    }
  }

  /// The value's own text, if a program that reads the type reads it as the value.
  private static func exactText<Value: StorableValue>(_ value: Value) -> String? {
    // Foundation traps at the text of a Date that is not a number.
    guard
      value is any LosslessStringConvertible || value is Decimal || value is URL || value is UUID
    else { return nil }
    let (storage, text) = (InMemoryStorage(), "\(value)")
    do {
      try storage.save(text, forKey: "k")
      let read = try storage.load(Value.self, forKey: "k")
      return try AnyStorableValue(read) == AnyStorableValue(Optional(value)) ? text : nil
    } catch {
      return nil
    }
  }
}
