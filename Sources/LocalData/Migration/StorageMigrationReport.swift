public import StorageCore

/// What became of migrations: names and reasons, and never a value.
public struct StorageMigrationReport: Hashable, Sendable {
  /// What became of one.
  public enum Outcome: Hashable, Sendable {
    /// The value is at the destination, was read back there, and is gone from the source.
    case moved
    /// The destination had the value before, and the source has none now.
    case alreadyThere
    /// There is no value, neither at the source nor at the destination.
    case absent
    /// The values were left where they are: a condition was not met, the transformation gave none, or
    /// the key is not for this machine.
    case skipped
    /// Why not; no value was lost.
    case failed(StorageError)
    /// The run was cancelled before.
    case notStarted
  }

  /// One migration.
  public struct Entry: Hashable, Sendable {
    /// Where the value was: domain and name of each key, or the former place of the same key.
    public let sources: [String]
    /// Domain and name of the key that it is for.
    public let destination: String
    /// What became of it; in a dry run, what would.
    public let outcome: Outcome

    /// The error of a migration that failed, or nil.
    public var error: StorageError? {
      if case .failed(let error) = outcome { return error }
      return nil
    }
  }

  /// The migrations, in the order in which they ran.
  public internal(set) var entries: [Entry] = []
  /// Whether nothing was changed, and the outcomes are what would be.
  public let isDryRun: Bool

  /// Those of an outcome that is not a failure.
  public func entries(_ outcome: Outcome) -> [Entry] { entries.filter { $0.outcome == outcome } }
  /// Those that moved a value.
  public var moved: [Entry] { entries(.moved) }
  /// Those whose value was at the destination before.
  public var alreadyThere: [Entry] { entries(.alreadyThere) }
  /// Those that failed.
  public var failed: [Entry] { entries.filter { $0.error != nil } }
  /// Whether each one ran, and none failed.
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

/// How far a run of migrations is.
public struct StorageMigrationProgress: Hashable, Sendable {
  /// How many are done, whatever became of them.
  public let done: Int
  /// How many there are in this run.
  public let total: Int
  /// The one that was done last.
  public let last: StorageMigrationReport.Entry
}
