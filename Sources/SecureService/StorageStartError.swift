#if Server
  public import StorageCore

  /// Why a server can't start: a store that it needs can't be opened.
  public struct StorageStartError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the store.
    public let store: String
    /// Why it can't be opened, and what to do about it.
    public let reason: StorageError

    /// For the operator: which store, why, and what to do.
    ///
    /// Contains no secret.
    public var description: String { "the store \"\(store)\" can't be opened: \(reason)" }

    /// The exit code for the program: the codes of `securestore`, such as 10 for a missing key, 11
    /// for a wrong key, 12 for damage, 16 for a full disk, 69 for a missing store.
    public var exitCode: Int32 { reason.code.exitCode }
  }
#endif
