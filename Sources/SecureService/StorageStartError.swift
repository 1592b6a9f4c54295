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
    /// No secret is in it.
    public var description: String { "the store \"\(store)\" can't be opened: \(reason)" }

    /// What a program should exit with: the codes of `securestore`, such as 10 for a key that is not there,
    /// 11 for a wrong key, 12 for damage, 16 for a full disk, 69 for a store that is not there.
    public var exitCode: Int32 { reason.code.exitCode }
  }
#endif
