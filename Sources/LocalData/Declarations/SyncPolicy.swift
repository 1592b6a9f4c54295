/// Whether the value of a key goes to other machines.
public enum SyncPolicy: String, Hashable, Sendable, CaseIterable {
  /// It stays on this machine.
  case never
  /// When the program says so.
  case manual
  /// With each write, as long as it is no larger than ``SyncConfiguration/maxAutoSyncSize``.
  case automaticSmall
}
