/// What is sent to other machines by itself.
public struct SyncConfiguration: Hashable, Sendable {
  /// The largest value in bytes that ``SyncPolicy/automaticSmall`` sends.
  public var maxAutoSyncSize: Int

  /// What is sent to other machines by itself.
  ///
  /// - Parameter maxAutoSyncSize: the largest value in bytes that ``SyncPolicy/automaticSmall`` sends.
  public init(maxAutoSyncSize: Int = 100_000) { self.maxAutoSyncSize = maxAutoSyncSize }
}
