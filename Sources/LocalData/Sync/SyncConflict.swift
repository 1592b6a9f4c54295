public import CryptoCore

/// Two values of one key, this machine's and the shared store's, that both changed since the last
/// agreement.
///
/// Both values are still in place. Printing a conflict shows the key's name, not the values.
public struct SyncConflict<Value: Sendable>: Sendable {
  /// The name of the key.
  public let name: String
  /// Where the value is kept here.
  public let domain: StorageDomain
  /// This machine's value; nil if it was removed or never existed.
  public let local: Value?
  /// The value in the shared store; nil if it was removed there.
  public let shared: Value?
  /// The version of the shared value: the number of writes of the key there.
  public let version: UInt64
}

extension SyncConflict: RedactedDescription {
  /// The domain and the name.
  public var description: String { "SyncConflict(\(domain)/\(name))" }
}

/// How the application resolves a conflict.
public enum SyncResolution<Value: Sendable>: Sendable {
  /// Both values stay in place, and the next sync finds the conflict again.
  case leave
  /// This machine's value, or its removal, is sent to the shared store.
  case keepLocal
  /// The shared value, or its removal, replaces this machine's.
  case takeShared
  /// A value made from both is stored here and sent to the shared store; nil removes the value
  /// everywhere.
  case use(Value?)
}

/// What a sync of one key did.
public enum SyncOutcome<Value: Sendable>: Sendable {
  /// Both sides have the same value.
  case upToDate
  /// This machine's value, or its removal, was sent to the shared store.
  case sent
  /// The shared value, or its removal, was stored here.
  case received
  /// Both sides changed; nothing was changed by this sync.
  case conflict(SyncConflict<Value>)
}

extension SyncOutcome: RedactedDescription {
  /// The case, without values.
  public var description: String { "\(kind)" }

  /// The outcome without the values.
  public var kind: SyncReport.Outcome {
    switch self {
    case .upToDate: .upToDate
    case .sent: .sent
    case .received: .received
    case .conflict: .conflict
    }
  }
}
