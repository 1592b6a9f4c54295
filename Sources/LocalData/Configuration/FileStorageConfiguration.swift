/// Where the files of keys are within the standard folders.
public struct FileStorageConfiguration: Hashable, Sendable {
  /// The name of a folder in `Documents` and in the cache folder that holds all files; nil for no
  /// such folder.
  public var subDirectory: String?

  /// Creates a configuration.
  ///
  /// - Parameter subDirectory: the name of a folder, without a slash; nil for no such folder.
  public init(subDirectory: String? = nil) { self.subDirectory = subDirectory }
}
