/// The limit for values that are sent to other machines automatically.
public struct SyncConfiguration: Hashable, Sendable {
  /// The largest value in bytes that ``SyncPolicy/automaticSmall`` sends.
  public var maxAutoSyncSize: Int

  /// Creates a configuration.
  ///
  /// - Parameter maxAutoSyncSize: the largest value in bytes that ``SyncPolicy/automaticSmall``
  ///   sends.
  public init(maxAutoSyncSize: Int = 100_000) { self.maxAutoSyncSize = maxAutoSyncSize }
}
