public import CryptoCore

/// Two values of one key: this machine's and the shared store's, both changed since they last agreed.
///
/// Both are still where they are. It prints as the key's name, without the values.
public struct SyncConflict<Value: Sendable>: Sendable {
  /// The name of the key.
  public let name: String
  /// Where the value is kept here.
  public let domain: StorageDomain
  /// The value here; nil when it was removed, or never was.
  public let local: Value?
  /// The value in the shared store; nil when it was removed there.
  public let shared: Value?
  /// The version of the shared value: how often the key was written there.
  public let version: UInt64
}

extension SyncConflict: RedactedDescription {
  /// The domain and the name.
  public var description: String { "SyncConflict(\(domain)/\(name))" }
}

/// How the application settles a conflict.
public enum SyncResolution<Value: Sendable>: Sendable {
  /// Both values stay where they are, and the next sync finds the conflict again.
  case leave
  /// This machine's value, or its removal, goes to the others.
  case keepLocal
  /// The shared value, or its removal, replaces this machine's.
  case takeShared
  /// A value made of both is stored here and goes to the others; nil removes it everywhere.
  case use(Value?)
}

/// What a sync of one key did.
public enum SyncOutcome<Value: Sendable>: Sendable {
  /// Both sides have the same.
  case upToDate
  /// This machine's value, or its removal, went to the shared store.
  case sent
  /// The shared value, or its removal, was taken over here.
  case received
  /// Both sides had changed; nothing was changed.
  case conflict(SyncConflict<Value>)
}

extension SyncOutcome: RedactedDescription {
  /// The case, without values.
  public var description: String { "\(kind)" }

  /// Without the values.
  public var kind: SyncReport.Outcome {
    switch self {
    case .upToDate: .upToDate
    case .sent: .sent
    case .received: .received
    case .conflict: .conflict
    }
  }
}
