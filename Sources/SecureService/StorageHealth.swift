#if Server
  public import StorageCore

  /// What is known of a store of a running server.
  public struct StorageHealth: Hashable, Sendable {
    /// The store's name.
    public let store: String
    /// Why the last look at the store failed; nil when it can be read.
    public let readFailure: StorageError?
    /// The code of the last write when that failed for a reason of the place, as `full`; nil after a write
    /// that was made, and before the first.
    public let writeFailure: StorageError.Code?
    /// How long ago the store was last found readable, past what is in memory; nil before it was opened.
    public let age: Duration?

    /// What is known of a store; for tests and for stores that a ``StorageService`` does not look at.
    public init(
      store: String, readFailure: StorageError?, writeFailure: StorageError.Code?, age: Duration?
    ) {
      self.store = store
      self.readFailure = readFailure
      self.writeFailure = writeFailure
      self.age = age
    }

    /// Whether the store can be read, as far as is known.
    public var isReadable: Bool { readFailure == nil && age != nil }
    /// Whether the store can be read, and the last write was made.
    ///
    /// A store that can be read and not be written to, as on a full disk, still serves what needs no write.
    public var isWhole: Bool { isReadable && writeFailure == nil }
  }
#endif
