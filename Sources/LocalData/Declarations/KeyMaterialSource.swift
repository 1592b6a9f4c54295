/// Names where key material comes from that is not the program's own.
///
/// The name is kept beside what is sealed, in the clear.
public struct KeyMaterialSource: Hashable, Sendable {
  /// The name: 1 to 255 UTF-8 bytes.
  public let id: String

  /// The source of a name.
  public init(id: String) { self.id = id }
}
