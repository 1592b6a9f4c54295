public import StorageCore

/// What a sync of all keys did: names and reasons, and never a value.
public struct SyncReport: Hashable, Sendable {
  /// What became of one key.
  public enum Outcome: Hashable, Sendable {
    /// Both sides have the same.
    case upToDate
    /// This machine's value, or its removal, went to the shared store.
    case sent
    /// The shared value, or its removal, was taken over here.
    case received
    /// Both sides had changed, and both are as they were.
    ///
    /// ``StorageRouter/sync(_:resolving:)`` settles it.
    case conflict
    /// Why not; nothing was changed here.
    case failed(StorageError)
  }

  /// One key.
  public struct Entry: Hashable, Sendable {
    /// The domain and the name of the key.
    public let key: String
    /// What became of it.
    public let outcome: Outcome
  }

  /// The keys, in the order of their catalogs.
  public internal(set) var entries: [Entry] = []

  /// The keys in conflict.
  public var conflicts: [Entry] { entries.filter { $0.outcome == .conflict } }
  /// The keys that failed.
  public var failed: [Entry] {
    entries.filter { if case .failed = $0.outcome { true } else { false } }
  }
}

/// What happened to a key that is sent with each write.
public enum SyncEvent: Hashable, Sendable {
  /// The shared store has what this machine has.
  case agreed(key: String, SyncReport.Outcome)
  /// Both sides had changed; nothing was changed. ``StorageRouter/sync(_:resolving:)`` settles it.
  case conflict(key: String)
  /// The value has more bytes than ``SyncConfiguration/maxAutoSyncSize``, and was not sent.
  ///
  /// ``StorageRouter/sync(_:resolving:)`` sends it.
  case tooLarge(key: String, bytes: Int, limit: Int)
  /// It could not be sent, and is tried again after a while; nil is with the next write.
  case failed(key: String, StorageError, retryAfter: Duration?)
}
