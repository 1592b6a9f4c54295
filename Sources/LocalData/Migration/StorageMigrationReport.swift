public import StorageCore

/// The outcomes of migrations: names and reasons, never a value.
public struct StorageMigrationReport: Hashable, Sendable {
  /// The outcome of one migration.
  public enum Outcome: Hashable, Sendable {
    /// The value is at the destination, was read back there, and was removed from the source.
    case moved
    /// The destination already had the value, and the source has none now.
    case alreadyThere
    /// Neither the source nor the destination has a value.
    case absent
    /// The values stay in place: a condition was false, the transformation returned nil, or the key
    /// is not for this machine.
    case skipped
    /// The migration failed with this error; no value was lost.
    case failed(StorageError)
    /// The run was cancelled before this migration started.
    case notStarted
  }

  /// One migration.
  public struct Entry: Hashable, Sendable {
    /// The source: domain and name of each key, or the former place of the same key.
    public let sources: [String]
    /// Domain and name of the destination's key.
    public let destination: String
    /// The outcome; in a dry run, the outcome that a real run would have.
    public let outcome: Outcome

    /// The error of a migration that failed, or nil.
    public var error: StorageError? {
      if case .failed(let error) = outcome { return error }
      return nil
    }
  }

  /// The migrations, in the order in which they ran.
  public internal(set) var entries: [Entry] = []
  /// Whether this was a dry run: nothing was changed.
  public let isDryRun: Bool

  /// The migrations with a given outcome other than `failed`.
  public func entries(_ outcome: Outcome) -> [Entry] { entries.filter { $0.outcome == outcome } }
  /// The migrations that moved a value.
  public var moved: [Entry] { entries(.moved) }
  /// The migrations whose value was already at the destination.
  public var alreadyThere: [Entry] { entries(.alreadyThere) }
  /// The migrations that failed.
  public var failed: [Entry] { entries.filter { $0.error != nil } }
  /// Whether every migration ran and none failed.
  public var isComplete: Bool { failed.isEmpty && entries(.notStarted).isEmpty }
}

extension StorageMigrationReport: CustomStringConvertible {
  /// A line for each migration.
  public var description: String {
    entries.map { "\($0)" }.joined(separator: "\n")
  }
}

extension StorageMigrationReport.Entry: CustomStringConvertible {
  /// The destination, what became of it, and where from.
  public var description: String {
    let from = sources.joined(separator: ", ")
    return switch outcome {
    case .moved: "\(destination): moved from \(from)"
    case .alreadyThere: "\(destination): was there already"
    case .absent: "\(destination): no value here or at \(from)"
    case .skipped: "\(destination): skipped; left at \(from)"
    case .failed(let error): "\(destination): failed, from \(from): \(error)"
    case .notStarted: "\(destination): not started"
    }
  }
}

/// The progress of a run of migrations.
public struct StorageMigrationProgress: Hashable, Sendable {
  /// How many migrations are done, with any outcome.
  public let done: Int
  /// How many migrations this run has.
  public let total: Int
  /// The migration that was done last.
  public let last: StorageMigrationReport.Entry
}
