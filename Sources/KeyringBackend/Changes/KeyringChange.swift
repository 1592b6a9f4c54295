/// A change that any program made to an item of the keyring.
public struct KeyringChange: Hashable, Sendable {
  /// What happens to an item.
  public enum Kind: Hashable, Sendable {
    /// The item is new.
    case created
    /// The item's secret, label or attributes differ from before.
    case changed
    /// The item no longer exists.
    case deleted
  }

  /// What happened.
  public let kind: Kind
  /// The item's label; for a deleted item, the last label that was seen.
  public let label: String
  /// The item's attributes, with those that the service adds; for a deleted item, the last that
  /// were seen.
  public let attributes: [String: String]
  /// The attributes before, of a changed item.
  let before: [String: String]?

  init(
    _ kind: Kind, _ label: String, _ attributes: [String: String],
    before: [String: String]? = nil
  ) {
    self.kind = kind
    self.label = label
    self.attributes = attributes
    self.before = before
  }
}
