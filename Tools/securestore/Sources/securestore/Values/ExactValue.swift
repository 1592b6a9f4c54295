internal import StorageCore

/// A stored value with its exact type and bytes, to be compared or stored again as it is.
enum ExactValue: Hashable {
  case storable(AnyStorableValue)
  case encoded(EncodedValue)
}

extension StorageTransaction {
  /// The value of a key as it is stored; nil if there is none.
  ///
  /// - Throws: `StorageError`: `typeMismatch` for a value that only its application can read.
  func exactValue(forKey key: StoreKey) throws(StorageError) -> ExactValue? {
    switch try summary(forKey: key)?.type.description {
    case nil: return nil
    case StoredValue.codableType, StoredValue.propertyListType:
      return try load(EncodedValue.self, forKey: key).map { .encoded($0) }
    default: return try load(AnyStorableValue.self, forKey: key).map { .storable($0) }
    }
  }

  /// Stores the value under a key, with the same bytes.
  func save(_ value: ExactValue, forKey key: StoreKey) throws(StorageError) {
    switch value {
    case .storable(let value): try save(Optional(value), forKey: key)
    case .encoded(let value): try save(Optional(value), forKey: key)
    }
  }
}
