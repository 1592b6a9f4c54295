/// The name of a source of key material outside the program.
///
/// The name is stored in the clear, beside the sealed value.
public struct KeyMaterialSource: Hashable, Sendable {
  /// The name: 1 to 255 UTF-8 bytes.
  public let id: String

  /// Creates the source of that name.
  public init(id: String) { self.id = id }
}
