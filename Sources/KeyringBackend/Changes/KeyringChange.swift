/// What happened to an item of the keyring, by whichever program.
public struct KeyringChange: Hashable, Sendable {
  /// What happens to an item.
  public enum Kind: Hashable, Sendable {
    /// It is there, and was not before.
    case created
    /// Its secret, its label or its attributes are others than before.
    case changed
    /// It is not there any more.
    case deleted
  }

  /// What happened.
  public let kind: Kind
  /// The item's label; of a deleted one the last that was seen.
  public let label: String
  /// The item's attributes, with those that the service adds; of a deleted one the last that were
  /// seen.
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
