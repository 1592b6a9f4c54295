/// A type that prints what it is, and nothing that it holds.
///
/// `print`, `dump`, string interpolation and a debugger show ``description`` and no stored
/// property. A type that conforms shows its name; a type that can say more without a secret, such
/// as a key's name, has a `description` of its own.
public protocol RedactedDescription: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{}

extension RedactedDescription {
  /// The type's name, and nothing that the value holds.
  public var description: String { "\(type(of: self))" }
  /// The same as `description`.
  public var debugDescription: String { description }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
