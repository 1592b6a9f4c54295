/// Which place a delegate keeps its records in: two delegates of one identity keep the same ones.
///
/// Storages over delegates of one identity tell each other of their changes.
public struct DelegateIdentity: Hashable, Sendable {
  private enum Kind: Hashable, Sendable {
    case object(ObjectIdentifier)
    case named(type: ObjectIdentifier, name: String)
  }
  private let kind: Kind

  /// The identity of an object that holds the records, such as the delegate itself.
  ///
  /// - Parameter object: the object; the delegate keeps it alive.
  public init(of object: AnyObject) { kind = .object(ObjectIdentifier(object)) }

  /// The identity of a place that has a name, such as a path or an address.
  ///
  /// - Parameters:
  ///   - name: tells the places of one type of delegate apart.
  ///   - type: the type of delegate.
  public init(_ name: String, of type: any StorageDelegate.Type) {
    kind = .named(type: ObjectIdentifier(type), name: name)
  }
}
