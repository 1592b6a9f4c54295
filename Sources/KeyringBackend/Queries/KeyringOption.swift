/// How a query of the keyring is answered.
public enum KeyringOption: Hashable, Sendable {
  /// How many items are meant.
  public enum Limit: Hashable, Sendable {
    /// One: a search gives that which was made first, by its date and its path; a change or a
    /// removal is the error `duplicate` when there are several.
    case first
    /// All of them.
    case all
  }

  /// How many items are meant; ``Limit/first`` unless said otherwise.
  case matchLimit(Limit)
  /// Whether the secret is read; false unless said otherwise.
  case returnData(Bool)
  /// Whether label, dates and attributes are given; false unless said otherwise.
  case returnAttributes(Bool)
  /// The collection, by its alias or its label; all of them unless said otherwise, and the default
  /// one for an item that is made.
  case group(String)
  /// How calls wait, and whether they may ask the user; ``KeyringAccess/standard`` unless said
  /// otherwise.
  case access(KeyringAccess)
}

/// How a query of the keyring is answered.
///
/// Of several options of one kind that say different things, any may win.
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

  var place: ItemQuery.Place { group.map { .collection($0) } ?? .everywhere }

  var access: KeyringAccess {
    for case .access(let access) in self { return access }
    return .standard
  }
}
