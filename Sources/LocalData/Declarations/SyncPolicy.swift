/// Whether the value of a key is sent to other machines.
public enum SyncPolicy: String, Hashable, Sendable, CaseIterable {
  /// It stays on this machine.
  case never
  /// Sent when the program calls for it.
  case manual
  /// Sent with each write, unless it is larger than ``SyncConfiguration/maxAutoSyncSize``.
  case automaticSmall
}
