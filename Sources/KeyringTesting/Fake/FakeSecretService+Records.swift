extension FakeSecretService {
  /// A secret in the fake, as it is stored.
  public struct Item: Hashable, Sendable {
    /// Its object's path.
    public let path: String
    /// What people call it.
    public var label: String
    /// The attributes that it is found by, without those that `Manners.addedAttributes` adds.
    public var attributes: [String: String]
    /// The secret.
    public var secret: [UInt8]
    /// The declared content type of the secret.
    public var contentType: String
    /// When it was made, in seconds since 1970.
    public var created: UInt64
    /// When it was changed last, in seconds since 1970.
    public var modified: UInt64
  }

  /// A collection in the fake.
  package struct Collection: Hashable, Sendable {
    /// Its object's path.
    package let path: String
    /// What people call it.
    package var label: String
    /// Whether it is locked.
    package var isLocked: Bool
    /// What is in it, the oldest first.
    package var items: [Item] = []
    /// When it was made, in seconds since 1970.
    package var created: UInt64
    /// When it was changed last, in seconds since 1970.
    package var modified: UInt64
  }
}
