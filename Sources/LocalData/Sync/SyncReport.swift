public import StorageCore

/// The outcomes of a sync of all keys: names and reasons, never a value.
public struct SyncReport: Hashable, Sendable {
  /// The outcome of one key.
  public enum Outcome: Hashable, Sendable {
    /// Both sides have the same value.
    case upToDate
    /// This machine's value, or its removal, was sent to the shared store.
    case sent
    /// The shared value, or its removal, was stored here.
    case received
    /// Both sides changed, and neither was overwritten.
    ///
    /// ``StorageRouter/sync(_:resolving:)`` resolves it.
    case conflict
    /// The sync failed with this error; nothing was changed here.
    case failed(StorageError)
  }

  /// One key.
  public struct Entry: Hashable, Sendable {
    /// The domain and the name of the key.
    public let key: String
    /// The outcome of the sync.
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

/// An event of a key that is sent automatically.
public enum SyncEvent: Hashable, Sendable {
  /// The shared store and this machine have the same value.
  case agreed(key: String, SyncReport.Outcome)
  /// Both sides changed; nothing was changed. ``StorageRouter/sync(_:resolving:)`` resolves it.
  case conflict(key: String)
  /// The value has more bytes than ``SyncConfiguration/maxAutoSyncSize``, and was not sent.
  ///
  /// ``StorageRouter/sync(_:resolving:)`` sends it.
  case tooLarge(key: String, bytes: Int, limit: Int)
  /// The value could not be sent. It is sent again after the delay; nil means with the next write.
  case failed(key: String, StorageError, retryAfter: Duration?)
}
