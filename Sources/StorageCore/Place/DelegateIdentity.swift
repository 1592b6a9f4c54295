/// Identifies the place of a delegate's records: delegates of equal identity share the same
/// records.
///
/// Storages whose delegates have equal identities notify each other of their changes.
public struct DelegateIdentity: Hashable, Sendable {
  private enum Kind: Hashable, Sendable {
    case object(ObjectIdentifier)
    case named(type: ObjectIdentifier, name: ExactString)
  }
  private let kind: Kind

  /// Makes the identity of an object that holds the records, such as the delegate itself.
  ///
  /// - Parameter object: the object; the delegate keeps it alive.
  public init(of object: AnyObject) { kind = .object(ObjectIdentifier(object)) }

  /// Makes the identity of a place that has a name, such as a path or an address.
  ///
  /// - Parameters:
  ///   - name: tells the places of one delegate type apart.
  ///   - type: the delegate type.
  public init(_ name: String, of type: any StorageDelegate.Type) {
    kind = .named(type: ObjectIdentifier(type), name: ExactString(text: name))
  }
}
