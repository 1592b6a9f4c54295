/// How a query of the keyring is answered.
public enum KeyringOption: Hashable, Sendable {
  /// How many items a query is about.
  public enum Limit: Hashable, Sendable {
    /// One item: a search gives the one that was made first, by its date and its path; a change or
    /// a removal throws `duplicate` when there are several.
    case first
    /// All of them.
    case all
  }

  /// How many items the query is about; ``Limit/first`` unless said otherwise.
  case matchLimit(Limit)
  /// Whether the secret is read; false unless said otherwise.
  case returnData(Bool)
  /// Whether label, dates and attributes are given; false unless said otherwise.
  case returnAttributes(Bool)
  /// The collection, by its alias or its label; unless said otherwise, all collections, and the
  /// default one for a new item.
  case group(String)
  /// Only the item with this ``KeyringItem/id``, which the attributes of the query must match as
  /// well. To change or remove one of several items that are otherwise alike.
  case id(String)
  /// How calls wait, and whether they may ask the user; ``KeyringAccess/standard`` unless said
  /// otherwise.
  case access(KeyringAccess)
}

/// How a query of the keyring is answered.
///
/// If several options of one kind differ, any of them may win.
public typealias KeyringOptions = Set<KeyringOption>

extension Set<KeyringOption> {
  /// The item that was made first, with its secret and its attributes.
  public static var matchFirst: KeyringOptions {
    [.matchLimit(.first), .returnData(true), .returnAttributes(true)]
  }

  /// All items, with their secrets and attributes.
  public static var matchAll: KeyringOptions {
    [.matchLimit(.all), .returnData(true), .returnAttributes(true)]
  }

  var isForAll: Bool { contains(.matchLimit(.all)) }
  var returnsData: Bool { contains(.returnData(true)) }
  var returnsAttributes: Bool { contains(.returnAttributes(true)) }

  var group: String? {
    for case .group(let name) in self { return name }
    return nil
  }

  var id: String? {
    for case .id(let id) in self { return id }
    return nil
  }

  var place: ItemQuery.Place { group.map { .collection($0) } ?? .everywhere }

  var access: KeyringAccess {
    for case .access(let access) in self { return access }
    return .standard
  }
}
