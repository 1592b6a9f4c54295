#if Server
  public import StorageCore

  /// The state of a store in a running server.
  public struct StorageHealth: Hashable, Sendable {
    /// The store's name.
    public let store: String
    /// Why the last check of the store failed, or that it does not end; nil if the store can be
    /// read.
    public let readFailure: StorageError?
    /// The code of the last write if it failed because of the place, such as `full`; nil after a
    /// successful write, and before the first.
    public let writeFailure: StorageError.Code?
    /// The time since the last successful check of the place itself; nil before the store was
    /// opened.
    public let age: Duration?

    /// Creates a state, for tests and for stores that no ``StorageService`` checks.
    public init(
      store: String, readFailure: StorageError?, writeFailure: StorageError.Code?, age: Duration?
    ) {
      self.store = store
      self.readFailure = readFailure
      self.writeFailure = writeFailure
      self.age = age
    }

    /// Whether the last check could read the store.
    public var isReadable: Bool { readFailure == nil && age != nil }
    /// Whether the store can be read, and the last write succeeded.
    ///
    /// A store that can only be read, as on a full disk, still serves requests that need no write.
    public var isWhole: Bool { isReadable && writeFailure == nil }
  }
#endif
