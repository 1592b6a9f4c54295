/// Where in the standard folders the files of keys are.
public struct FileStorageConfiguration: Hashable, Sendable {
  /// The name of a folder in `Documents` and in the cache folder, which holds all that is written
  /// there; nil is none.
  public var subDirectory: String?

  /// Where in the standard folders the files of keys are.
  ///
  /// - Parameter subDirectory: the name of a folder, without a slash; nil is none.
  public init(subDirectory: String? = nil) { self.subDirectory = subDirectory }
}
