/// The configuration under which values were stored before it changed.
public struct FormerConfiguration: Hashable, Sendable {
  /// What keys that leave out a service or a group got; nil is as now.
  public var storage: StorageConfiguration?
  /// Where the master key was; nil is as now.
  public var encryption: EncryptionConfiguration?
  /// Where in the standard folders files were; nil is as now.
  public var files: FileStorageConfiguration?

  /// A former configuration; what is nil is as now.
  ///
  /// - Parameters:
  ///   - storage: what keys that leave out a service or a group got.
  ///   - encryption: where the master key was. It is still there: values are opened with it.
  ///   - files: where in the standard folders files were.
  public init(
    storage: StorageConfiguration? = nil, encryption: EncryptionConfiguration? = nil,
    files: FileStorageConfiguration? = nil
  ) {
    self.storage = storage
    self.encryption = encryption
    self.files = files
  }

  /// The state of a router as it was before.
  func applied(to state: RouterState) -> RouterState {
    var former = state
    if let storage {
      former.storage = storage
      // What this machine is now counts for what it may read.
      former.storage.machineTags = state.storage.machineTags
    }
    if let encryption { former.encryption = encryption }
    if let files { former.files = files }
    return former
  }
}
