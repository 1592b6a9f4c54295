internal import CryptoCore
internal import StorageCore

/// The requested settings of a ``KeychainStorage``; the first use fixes them.
final class KeychainSettings: Sendable {
  /// The three properties of the storage.
  struct Values: Hashable, Sendable {
    var accessGroup: String?
    var synchronizable: Bool
    var accessible: Accessibility
  }

  private struct State {
    var asked: Values
    /// The values that the store was opened with; nil before the first use.
    var settled: Values?
  }
  private let state: Lock<State>
  /// Whether the application gives the key, so that `accessible` does not choose one.
  private let hasSource: Bool

  init(_ values: Values, hasSource: Bool) {
    state = Lock(State(asked: values))
    self.hasSource = hasSource
  }

  /// The last requested values, available or not.
  var asked: Values { state.withLock { $0.asked } }

  /// Asks for other values.
  func ask(_ change: (inout Values) -> Void) { state.withLock { change(&$0.asked) } }

  /// The values that the store was opened with, or will be.
  var effective: Values { state.withLock { $0.settled ?? $0.asked } }

  /// The values of the store, which are fixed from now on.
  ///
  /// - Throws: `unsupported` when the values are not available, or were changed after the first
  ///   use.
  func settle() throws(StorageError) -> Values {
    try state.withLock { (state) throws(StorageError) in
      if let settled = state.settled {
        guard settled == state.asked else { throw Self.late(settled, state.asked) }
        return settled
      }
      try Self.refuse(state.asked.synchronizable, state.asked.accessible, hasSource: hasSource)
      state.settled = state.asked
      return state.asked
    }
  }

  /// Refuses values that the Secret Service can't provide, and that would otherwise be accepted and
  /// ignored.
  static func refuse(
    _ synchronizable: Bool, _ accessible: Accessibility, hasSource: Bool
  ) throws(StorageError) {
    if synchronizable {
      throw StorageError(
        .unsupported,
        "the Secret Service can't synchronize between devices; set synchronizable to false")
    }
    if accessible == .whenPasscodeSetThisDeviceOnly, !hasSource {
      throw StorageError(
        .unsupported,
        "this machine has no device passcode; give the storage a passphrase as its key source")
    }
  }

  /// The error if the program set other values after the store was opened.
  private static func late(_ settled: Values, _ asked: Values) -> StorageError {
    var names: [String] = []
    if settled.accessGroup != asked.accessGroup { names.append("accessGroup") }
    if settled.synchronizable != asked.synchronizable { names.append("synchronizable") }
    if settled.accessible != asked.accessible { names.append("accessible") }
    return StorageError(
      .unsupported,
      "\(names.joined(separator: " and ")) changed after the storage was first used; set it before "
        + "the first use, or make another KeychainStorage")
  }
}
