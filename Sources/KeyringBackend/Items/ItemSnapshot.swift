internal import StorageCore

/// What is known of an item besides its secret.
struct ItemSnapshot: Sendable {
  let path: ObjectPath
  let label: String
  /// With those that the service adds.
  let attributes: [String: String]
  /// In seconds since 1970.
  let created: UInt64
  /// In seconds since 1970.
  let modified: UInt64
  let isLocked: Bool

  /// Whether it has all of these, byte for byte.
  func has(_ wanted: [String: String]) -> Bool {
    wanted.allSatisfy { name, value in
      guard let index = attributes.index(forKey: name) else { return false }
      let (ownName, ownValue) = attributes[index]
      return ownName.utf8.elementsEqual(name.utf8) && ownValue.utf8.elementsEqual(value.utf8)
    }
  }

  /// Whether it is a record or a key of a sealed store, which is not for those that share secrets.
  var isOfStore: Bool { attributes[AttributeName.schema]?.hasPrefix(SchemaName.stores) == true }
}

/// What finds items.
struct ItemQuery: Sendable {
  /// Where items are looked for.
  enum Place: Sendable {
    /// In the collection of an alias or a label, or in the default one.
    case collection(String?)
    case everywhere
  }

  /// Attributes, any of which an item has to have all of: programs call the same thing by several
  /// names.
  var alternatives: [[String: String]]
  var place: Place
  /// What of those found is meant.
  var accepts: @Sendable (ItemSnapshot) -> Bool = { _ in true }
  /// What it is in errors.
  var subject: String

  func path(_ connection: BusConnection, _ call: Call) throws(BusFailure) -> ObjectPath? {
    switch place {
    case .everywhere: nil
    case .collection(let name): try connection.collection(named: name, call)
    }
  }
}

/// What a search found.
struct FoundItems: Sendable {
  /// Those that are meant.
  let items: [ItemSnapshot]
  /// How many there are with those that are not.
  let count: Int
  let subject: String

  /// The one that there is, or nil when there is none.
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

/// What an item is to be.
struct ItemContent: Sendable {
  var label: String
  var attributes: [String: String]
  var secret: PlainSecret
}
