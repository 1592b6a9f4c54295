/// The configuration under which values were stored before it changed.
public struct FormerConfiguration: Hashable, Sendable {
  /// The former values for keys that omit a service or a group; nil means unchanged.
  public var storage: StorageConfiguration?
  /// Where the master key was; nil means unchanged.
  public var encryption: EncryptionConfiguration?
  /// Where files were within the standard folders; nil means unchanged.
  public var files: FileStorageConfiguration?

  /// Creates a former configuration; nil means unchanged.
  ///
  /// - Parameters:
  ///   - storage: the former values for keys that omit a service or a group.
  ///   - encryption: where the master key was. The key must still be there: it opens the old
  ///     values.
  ///   - files: where files were within the standard folders.
  public init(
    storage: StorageConfiguration? = nil, encryption: EncryptionConfiguration? = nil,
    files: FileStorageConfiguration? = nil
  ) {
    self.storage = storage
    self.encryption = encryption
    self.files = files
  }

  /// The router's state with this configuration applied.
  func applied(to state: RouterState) -> RouterState {
    var former = state
    if let storage {
      former.storage = storage
      // The machine's present tags decide which values it may read.
      former.storage.machineTags = state.storage.machineTags
    }
    if let encryption { former.encryption = encryption }
    if let files { former.files = files }
    return former
  }
}
