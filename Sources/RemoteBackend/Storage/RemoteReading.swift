public import StorageCore

/// How new a value is that a reader gets.
public struct RemoteReading: Sendable {
  let reading: Reading

  /// What this process has in memory, which a watch keeps current; costs no call.
  ///
  /// It is behind by the time that a change takes to get here, some milliseconds; by more while the
  /// engine is away, which ``RemoteStorage/state`` tells. A process reads its own writes.
  public static let cached = RemoteReading(reading: .cached)

  /// What this process has in memory, if that was all that there was at a time no longer ago than
  /// this; else as ``linearizable``.
  public static func cached(maximumAge: Duration) -> RemoteReading {
    RemoteReading(reading: .cachedFor(maximumAge))
  }

  /// The engine's value, no older than the call; costs a call, and an error if the engine is away.
  public static let linearizable = RemoteReading(reading: .linearizable)
}

/// How current this process's copy of a store is.
public enum RemoteState: Sendable {
  /// No read has succeeded yet; one that fails says why.
  case unused
  /// Changes are followed, and the last question to the engine was answered.
  ///
  /// Everything that was written so long ago is known; the age also grows while nothing is written.
  case current(age: Duration)
  /// Changes can't be followed, or the last question failed, for this reason and for so long; reads give what is known.
  case away(StorageError, since: Duration, age: Duration)
  /// Changes are followed, but for this reason and for so long they can't be written to this machine's
  /// copy.
  case unkept(StorageError, since: Duration, age: Duration)
}
