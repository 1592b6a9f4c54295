internal import StorageCore

/// Everything about an item except its secret.
struct ItemSnapshot: Sendable {
  let path: ObjectPath
  let label: String
  /// The attributes, with those that the service adds.
  let attributes: [String: String]
  /// In seconds since 1970.
  let created: UInt64
  /// In seconds since 1970.
  let modified: UInt64
  let isLocked: Bool

  /// Whether the item has all of these attributes, byte for byte.
  func has(_ wanted: [String: String]) -> Bool {
    wanted.allSatisfy { name, value in
      guard let index = attributes.index(forKey: name) else { return false }
      let (ownName, ownValue) = attributes[index]
      return ownName.utf8.elementsEqual(name.utf8) && ownValue.utf8.elementsEqual(value.utf8)
    }
  }

  /// Whether the item is a record or a key of a sealed store, which is not shared with other
  /// programs.
  var isOfStore: Bool { attributes[AttributeName.schema]?.hasPrefix(SchemaName.stores) == true }
}

/// A query for items.
struct ItemQuery: Sendable {
  /// Where items are looked for.
  enum Place: Sendable {
    /// In the collection of an alias or a label, or in the default one.
    case collection(String?)
    case everywhere
  }

  /// Sets of attributes.
  ///
  /// An item matches if it has all attributes of any one set: programs use several names for one
  /// thing.
  var alternatives: [[String: String]]
  var place: Place
  /// Chooses among the found items.
  var accepts: @Sendable (ItemSnapshot) -> Bool = { _ in true }
  /// The name of the wanted thing in errors.
  var subject: String

  func path(_ connection: BusConnection, _ call: Call) throws(BusFailure) -> ObjectPath? {
    switch place {
    case .everywhere: nil
    case .collection(let name): try connection.collection(named: name, call)
    }
  }
}

/// The result of a search.
struct FoundItems: Sendable {
  /// The items that the query accepts.
  let items: [ItemSnapshot]
  /// The number of all found items, with those that the query does not accept.
  let count: Int
  let subject: String

  /// The only item, or nil when there is none.
  func only() throws(BusFailure) -> ItemSnapshot? {
    guard items.count < 2 else {
      throw BusFailure(
        .duplicate,
        "\(items.count) keyring items match \(subject); none was chosen. Remove the unwanted items, or "
          + "say more exactly which item is meant")
    }
    return items.first
  }
}

/// The content of an item to store.
struct ItemContent: Sendable {
  var label: String
  var attributes: [String: String]
  var secret: PlainSecret
}
